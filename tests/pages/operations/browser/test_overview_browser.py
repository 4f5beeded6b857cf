"""The overview and the keys of every page, in a real browser."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import CredentialFactory
from tests.pages.browser.test_axe import faults
from tests.pages.browser.test_dead_server import server as server
from tests.pages.conftest import measure, watched
from tests.pages.looking import looking
from tests.pages.operations.large.test_overview import fast, worker
from trackers.jobs.observed.models import Worker
from trackers.tasks import forecast_days

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FOCUSED = "() => document.activeElement.id"


def test_the_overview_refreshes_and_answers_to_keys(staff, live_server):
    CredentialFactory(name="main")
    measure(watched(due_in=600), 0, likes=1)
    first, second = fast(20, 10)

    with looking(
        staff, live_server, color_scheme="dark", viewport={"width": 1280, "height": 900}
    ) as seen:
        page = seen.page
        page.goto(f"{seen.address}/")
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
            ours = len(seen.faults)
            assert faults(page, "/") == []
            # axe looks for styles in ways that the pages' policy refuses.
            del seen.faults[ours:]
        # Parts that stand elsewhere come with the same answer.
        CredentialFactory(name="newsroom")
        page.wait_for_selector("#means:has-text('newsroom')")
        assert [page.locator(part).count() for part in ("#now", "#means", "#days")] == [1, 1, 1]

        open_a_row_by_keys(seen, first, second)
        open_pages_by_letters(seen)
        turn_keys_off_and_on(seen)


def open_a_row_by_keys(seen, first, second):
    page, press = seen.page, seen.page.keyboard.press
    press("j")
    press("j")
    press("j")
    press("k")
    assert page.evaluate(FOCUSED) == f"fast-link-{first.pk}"
    press("j")
    assert page.evaluate(FOCUSED) == f"fast-link-{second.pk}"
    press("Enter")
    page.wait_for_url(f"{seen.address}/tweets/{second.pk}/")


def open_pages_by_letters(seen):
    """And the search for everything, where the page has none of its own."""
    page, press = seen.page, seen.page.keyboard.press
    for letter, path in (
        ("s", "/sources/"),
        ("t", "/tweets/"),
        ("f", "/fastest/"),
        ("o", "/"),
        ("p", "/operations/"),
    ):
        press("g")
        press(letter)
        page.wait_for_url(f"{seen.address}{path}")
    press("/")
    page.wait_for_selector("#palette-typed:focus")
    page.keyboard.type("g o")
    assert page.input_value("#palette-typed") == "g o", "in a field they are letters"
    press("Escape")
    assert page.locator("#palette").is_hidden()


def turn_keys_off_and_on(seen):
    """Off, and still off on the next page; on again by the button."""
    page, press = seen.page, seen.page.keyboard.press
    press("?")
    page.locator("#help [data-keys]").uncheck()
    page.locator("#help button").click()
    page.goto(f"{seen.address}/sources/")
    for key in ("?", "t", "g", "o"):
        press(key)
    assert page.locator("#help[open]").count() == 0
    assert page.get_attribute("html", "data-theme") is None
    assert page.url == f"{seen.address}/sources/"
    page.click("#person")
    page.click("[data-help]")
    page.locator("#help [data-keys]").check()
    press("Escape")
    page.locator("main").click()
    press("t")
    assert page.get_attribute("html", "data-theme") == "light"
    press("g")
    press("o")
    page.wait_for_url(f"{seen.address}/")


def test_without_scripts_the_overview_says_the_same(staff, live_server):
    first, _ = fast(20, 10)
    CredentialFactory(name="main")
    forecast_days()
    with looking(staff, live_server, java_script_enabled=False) as seen:
        page = seen.page
        page.goto(f"{seen.address}/")
        assert page.locator(".headline").is_visible()
        assert page.locator(f"#fast-{first.pk}").is_visible()
        page.click("#ahead-summary")
        assert page.locator("#ahead-table").is_visible()
        page.click("#fastest >> text=24 h")
        page.wait_for_url(lambda url: "window=1440" in url)
        assert page.locator("[data-help]").is_hidden()


def test_the_wall_shows_a_dead_server_and_its_return(server, staff):
    Worker.objects.all().delete()
    # Where all is well, the money of two projects is above the edge; also when the browser is slow.
    worker()
    Worker.objects.update(seen_at=timezone.now() + timedelta(minutes=5))
    measure(watched(due_in=600), 0, likes=1)
    CredentialFactory(name="main")
    CredentialFactory(name="newsroom")
    with looking(staff, server, viewport={"width": 1920, "height": 1080}) as seen:
        page = seen.page
        page.goto(f"{server.url}/?kiosk=1")
        money = page.locator(".money-card").bounding_box()
        assert money["y"] + money["height"] < 1080
        assert page.locator("nav[aria-label=Pages]").count() == 0
        notice = page.locator("[data-trouble]")
        server.kill()
        notice.get_by_text("The server does not answer.").wait_for()
        box = notice.bounding_box()
        faded = page.evaluate("() => getComputedStyle(document.querySelector('.overview')).opacity")
        server.start()
        notice.get_by_text("The server answers again.").wait_for()

        assert box["y"] < 100
        assert box["width"] > 1500
        assert float(faded) < 0.5
        # The browser's and htmx's own words about each request that failed.
        told = ("console: htmx:", "console: Failed to load resource: net::ERR_")
        seen.faults[:] = [one for one in seen.faults if not one.startswith(told)]
