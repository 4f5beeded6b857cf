"""Start a demo, take a picture of every page, and end it.

    python -m tests.screenshots [--only tweets …] [--into docs/images] [--address URL --password P]

light and dark at 1280 px, light at 1920 px and on a phone: NAME-light.png, NAME-dark.png,
NAME-wide.png, NAME-phone.png, where NAME is the page's name in the URL conf.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import django
from playwright.sync_api import sync_playwright

from tests.conftest import CHROMIUM, PROJECT
from tests.pages.chromium import FLAGS, Demo, Screen
from tests.screenshots.pages import WITHOUT_LOGIN, find_pages
from tests.screenshots.scene import prepare

FORMS = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "wide": {"viewport": {"width": 1920, "height": 1080}, "color_scheme": "light"},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "color_scheme": "light",
        "device_scale_factor": 2,
        "has_touch": True,
    },
}
# Milliseconds: a page that polls or draws is quiet in between.
QUIET, SETTLED = 5_000, 700


def take(address, password, *, into, only, first=(), say=print):
    """The names of the pages of which pictures were taken."""
    into.mkdir(parents=True, exist_ok=True)
    names = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        pages = {}
        for form, options in FORMS.items():
            context = browser.new_context(reduced_motion="reduce", locale="en-GB", **options)
            seen = Screen(context.new_page(), address)
            for name, where in WITHOUT_LOGIN.items():
                if not only or name in only:
                    picture(seen.page, f"{address}{where}", into / f"{name}-{form}.png")
            seen.log_in(password)
            pages = pages or find_pages(context.request, address, first=first)
            for name, where in pages.items():
                if only and name not in only:
                    continue
                picture(seen.page, f"{address}{where}", into / f"{name}-{form}.png")
                say(f"{name}-{form}.png  {where}")
                names.append(name)
            context.close()
        browser.close()
    return sorted({*names, *WITHOUT_LOGIN})


def picture(page, url, path):
    page.goto(url)
    try:
        page.wait_for_load_state("networkidle", timeout=QUIET)
    except Exception as error:
        # A stream is never idle.
        if "Timeout" not in str(error):
            raise
    if page.locator("#chart").count():
        page.wait_for_selector("#chart[data-ready], #chart :is(canvas, svg)", timeout=QUIET)
    page.wait_for_timeout(SETTLED)
    page.screenshot(path=path, animations="disabled", caret="hide")


def main():
    parser = argparse.ArgumentParser(prog="tests.screenshots")
    parser.add_argument("--into", type=Path, default=PROJECT / "docs" / "images")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--address", help="of a demo that runs already")
    parser.add_argument("--password", help="of its admin")
    asked = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
    # Playwright runs a loop in this thread; nothing else is in it.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    django.setup()
    if not CHROMIUM:
        return "There is no chromium on the PATH: install it (on Debian chromium)."
    if asked.address:
        take(asked.address.rstrip("/"), asked.password, into=asked.into, only=asked.only)
        return None
    with tempfile.TemporaryDirectory(prefix="tweetwatch-screenshots-") as folder:
        print("Starting a demo; this takes a minute or two …")
        demo = Demo(Path(folder))
        try:
            first = prepare(Path(folder) / "demo")
            take(demo.address, demo.password, into=asked.into, only=asked.only, first=first)
        finally:
            demo.end()
            demo.close()
    return None


if __name__ == "__main__":
    sys.exit(main())
