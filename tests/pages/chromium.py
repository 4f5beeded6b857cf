"""A real browser and a real demo: what is on the screen, and what the fake X answered."""

import asyncio
import atexit
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import cache

import psutil
import pytest
import requests
from playwright.sync_api import sync_playwright

from tests.conftest import CHROMIUM, PROJECT

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# A page of the list as it stands at one moment.
ROWS = """() => [...document.querySelectorAll('#rows tr')].map(row => ({
    id: row.id.slice(4),
    checked: row.querySelector('.checked time')?.dateTime ?? null,
    due: row.querySelector('.next time')?.dateTime ?? null,
    counts: Object.fromEntries([...row.querySelectorAll('td[data-metric]')].map(
        cell => [cell.dataset.metric, cell.querySelector('data').textContent])),
}))"""


def poll(fact, *, within, what):
    end = time.monotonic() + within
    while time.monotonic() < end:
        if value := fact():
            return value
        time.sleep(0.2)
    pytest.fail(f"after {within} s still not: {what}")


def ignore_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Demo:
    """`manage.py demo` as a person starts it; in the background a shell has it ignore SIGINT."""

    def __init__(self, directory, *flags, in_background=False):
        self.log = directory / "demo.txt"
        command = [sys.executable, "manage.py", "demo", "--port=0", *flags]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, f"--directory={directory / 'demo'}"],
                cwd=PROJECT,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=ignore_interrupts if in_background else None,
            )
        self.address = self.await_in_log(r"running: +(http://\S+?)/\n")
        self.password = self.await_in_log(r"password +(\S+)")
        self.fake = self.await_in_log(r"(http://\S+)/_fake/log")
        self.family = psutil.Process(self.process.pid).children(recursive=True)

    def await_in_log(self, pattern):
        def matching():
            assert self.process.poll() is None, self.log.read_text()
            return re.search(pattern, self.log.read_text())

        return poll(matching, within=240, what=f"{pattern} in {self.log}")[1]

    def log_entries(self):
        return requests.get(f"{self.fake}/_fake/log", timeout=30).json()["entries"]

    def answers(self):
        """What look-ups were answered: (epoch ms, {id: counts or why not}), oldest first."""
        return [
            (entry["at_ms"], entry["answers"])
            for entry in self.log_entries()
            if entry["endpoint"] == "GET /2/tweets"
        ]

    def times_shown(self):
        """When X said anything about each tweet, in a look-up or on a page of posts."""
        times = {}
        for entry in self.log_entries():
            for id in {*entry["answers"], *entry["shown"]}:
                times.setdefault(id, []).append(entry["at_ms"])
        return times

    def answer(self, id, at_ms):
        """What X said about a tweet at a moment: its counts, or why it does not show it."""
        address = f"{self.fake}/_fake/tweets/{id}?at_ms={at_ms}"
        return requests.get(address, timeout=30).json()["answer"]

    def lookup_times(self, id):
        """When the fake was asked about one tweet, in epoch seconds."""
        return [at_ms / 1000 for at_ms, answers in self.answers() if str(id) in answers]

    def survivors(self):
        return [one for one in self.family if one.is_running() and one.status() != "zombie"]

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(120)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for one in self.survivors():
            one.kill()


# Milliseconds; what is waited for ends the wait, on a busy machine too.
PATIENCE = 120_000


class Screen:
    """A page whose console, errors and requests are watched: whatever it says is a fault.

    But for one pair. When a page is left, or a newer request takes a poll's place, the browser
    aborts the request under way, and htmx writes `htmx:afterRequest` and right after it
    `htmx:sendAbort`. Both are dropped together. Nothing else is lost by that: htmx writes the
    second one on the `abort` event of a request alone. A refused or broken connection ends in
    `sendError`, a deadline in `timeout`, an error of the server's in `responseError`; these are
    kept, with the line before them.
    """

    def __init__(self, page, address):
        self.page, self.address, self.faults = page, address, []
        page.set_default_timeout(PATIENCE)
        page.on("console", self.hear)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("request", self.note)

    def hear(self, message):
        # What Chromium only advises, such as about a form with several secrets, is no fault.
        if message.text.startswith("[DOM]"):
            return
        is_ended = message.text.startswith("htmx:sendAbort,")
        if is_ended and self.faults and self.faults[-1].startswith("console: htmx:afterRequest,"):
            self.faults.pop()
        else:
            self.faults.append(f"console: {message.text}")

    def note(self, request):
        if not request.url.startswith((self.address, "data:")):
            self.faults.append(f"request to {request.url}")

    def log_in(self, password):
        self.page.goto(f"{self.address}/tweets/")
        self.page.fill("#id_username", "admin")
        self.page.fill("#id_password", password)
        with self.page.expect_navigation(url="**/tweets/"):
            self.page.press("#id_password", "Enter")
        # The list begins with what stands out, which a demo knows after its first minute or two.
        poll(self.has_rows, within=2 * PATIENCE / 1000, what="rows in the list of tweets")

    def has_rows(self):
        """Asks again where there are none."""
        if found := self.page.locator("#rows tr").count():
            return found
        self.page.wait_for_timeout(1000)
        self.page.reload()
        return 0

    def follow(self, link):
        """Click what opens another page, and wait until all of that page is there.

        Playwright's click waits only until the new page begins: on a busy machine what is read
        right after it may not have come yet.
        """
        with self.page.expect_navigation():
            self.page.click(link)

    def rows(self):
        return self.page.evaluate(ROWS)


@cache
def chromium():
    """The one browser of this process, which ends with it. A start costs seconds of a processor."""
    playwright = sync_playwright().start()
    atexit.register(playwright.stop)
    return playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)


@contextmanager
def window(address, **options):
    """A window of its own: nothing that was stored or cached for another is seen in it.

    Playwright runs a loop in the thread of the test, and nothing else does. Outside of a window
    Django is not to find that loop: it takes what runs in one for asynchronous.
    """
    browser = chromium()
    asyncio._set_running_loop(browser._loop)
    context = browser.new_context(**options)
    try:
        yield Screen(context.new_page(), address)
    finally:
        context.close()
        asyncio._set_running_loop(None)


@contextmanager
def screen(demo, **options):
    with window(demo.address, **options) as seen:
        seen.log_in(demo.password)
        yield seen
    assert seen.faults == []
