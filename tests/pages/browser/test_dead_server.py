"""A page whose server is dead, hangs, or has no database does not look live; and it says when that
is over."""

import os
import re
import signal
import socket
import subprocess
import sys
from datetime import timedelta
from uuid import uuid4

import pytest
import requests
from django.conf import settings
from django.db import connection
from django.utils import timezone

from tests.chaos.relay import Relays
from tests.conftest import PROJECT
from tests.databases import OURS, url_of
from tests.factories import CredentialFactory
from tests.pages.chromium import poll
from tests.pages.conftest import watched
from tests.pages.looking import looking
from trackers.jobs.observed.models import Worker

# The browser's and htmx's own words about each request that failed.
NO_ANSWER = ("console: htmx:", "console: Failed to load resource: net::ERR_")
# How often the page has asked since this was run.
COUNT = "() => { window.ticks = 0; document.body.addEventListener('tick', () => window.ticks++); }"


class Server:
    """gunicorn on a port that stays the same when it is started again."""

    def __init__(self, log, database=None):
        self.database = database or url_of(OURS)
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        self.log, self.url = log, f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        flags = f"--bind=127.0.0.1:{self.port} --threads=8 --no-control-socket"
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gunicorn", "tweetwatch.wsgi", *flags.split()],
                cwd=PROJECT,
                env={**os.environ, "DATABASE_URL": self.database, "HTTPS": "false"},
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

        def listens():
            assert self.process.poll() is None, self.log.read_text()
            with socket.socket() as one:
                return one.connect_ex(("127.0.0.1", self.port)) == 0

        poll(listens, within=120, what="the server listens")

    def tell(self, what):
        os.killpg(self.process.pid, what)

    def kill(self):
        self.tell(signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def server(tmp_path, transactional_db):
    started = Server(tmp_path / "server.txt")
    yield started
    started.kill()


@pytest.mark.browser
def test_a_dead_server_and_its_return_are_shown_within_two_refreshes(server, staff):
    with looking(staff, server) as seen:
        page = seen.page
        button, notice = page.locator("[data-live]"), page.locator("[data-trouble]")

        # A page that asks for news, and one that has nothing to ask.
        page.goto(f"{server.url}/operations/")
        page.evaluate(COUNT)
        server.kill()
        notice.get_by_text("The server does not answer.").wait_for()
        polls = page.evaluate("() => window.ticks")
        text = button.inner_text()
        server.start()
        notice.get_by_text("The server answers again.").wait_for()
        again = button.inner_text()

        page.goto(f"{server.url}/following/")
        server.tell(signal.SIGSTOP)
        notice.get_by_text("The server does not answer.").wait_for()
        server.tell(signal.SIGCONT)
        notice.get_by_text("The server answers again.").wait_for()
        notice.wait_for(state="detached")

        assert (polls <= 2, text, again) == (True, "No answer", "Live")
        seen.faults[:] = [one for one in seen.faults if not one.startswith(NO_ANSWER)]


@pytest.mark.browser
def test_nothing_looks_fresh_while_the_server_is_dead(server, staff):
    watched()
    CredentialFactory()
    later = timezone.now() + timedelta(hours=1)
    Worker.objects.create(
        pid=1, cluster=uuid4(), host="h", kind="main", started_at=later, seen_at=later
    )
    with looking(staff, server) as seen:
        page = seen.page
        headline, as_of = page.locator(".headline .big"), page.locator(".headline [data-as-of]")
        page.goto(f"{server.url}/")
        fresh = headline.evaluate("one => getComputedStyle(one).color")
        assert headline.inner_text() == "Everything is fresh"
        assert not as_of.is_visible()

        server.kill()
        as_of.wait_for()
        dead = headline.evaluate("one => getComputedStyle(one).color")
        assert re.fullmatch(r"As of \d\d:\d\d UTC\.", as_of.inner_text())
        server.start()
        as_of.wait_for(state="hidden")

        assert dead != fresh == headline.evaluate("one => getComputedStyle(one).color")
        seen.faults[:] = [one for one in seen.faults if not one.startswith(NO_ANSWER)]


# What the browser and htmx say about an answer with this status.
TOLD = ("console: htmx:", "console: Response Status Error Code 503", "console: Failed to load")


def way_to_the_database(relays):
    """A relay, and the test's own database behind it."""
    fields = connection.get_connection_params()
    host, port = fields.get("host") or "/var/run/postgresql", fields.get("port") or 5432
    target = f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, int(port))
    relay = relays.make(target)
    who = f"{fields['user']}:{fields.get('password') or ''}"
    return relay, f"postgres://{who}@127.0.0.1:{relay.port}/{OURS}"


@pytest.mark.browser
def test_a_page_reports_an_unreachable_database_and_recovers(tmp_path, transactional_db, staff):
    relays = Relays()
    relay, url = way_to_the_database(relays)
    server = Server(tmp_path / "server.txt", url)
    try:
        with looking(staff, server) as seen:
            page = seen.page
            button, notice = page.locator("[data-live]"), page.locator("[data-trouble]")
            page.goto(f"{server.url}/operations/")
            relay.cut()
            notice.get_by_text("The server cannot use its database right now.").wait_for()
            label = button.inner_text()
            opened = page.context.new_page()
            told = opened.goto(f"{server.url}/admin/")
            status, heading = told.status, opened.inner_text("h1")
            cookies = {
                settings.SESSION_COOKIE_NAME: staff.cookies[settings.SESSION_COOKIE_NAME].value
            }
            asked = requests.get(f"{server.url}/tweets/1/series.json", cookies=cookies, timeout=60)
            opened.get_by_text("This page reloads when the database is ready.").wait_for()

            relay.heal()
            notice.get_by_text("The server answers again.").wait_for()
            opened.get_by_role("heading", name="What is watched").wait_for()

            assert (label, button.inner_text()) == ("No database", "Live")
            assert (status, heading) == (503, "The database cannot be reached")
            assert (asked.status_code, asked.headers["Retry-After"]) == (503, "5")
            assert asked.json()["error"].startswith("The database cannot be reached.")
            seen.faults[:] = [one for one in seen.faults if not one.startswith(TOLD)]
    finally:
        server.kill()
        relays.close()
    assert "Traceback" not in server.log.read_text()
