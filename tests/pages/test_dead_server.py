"""A page whose server is dead, or hangs, does not look live; and it says when that is over."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest

from tests.conftest import OURS, PROJECT, url_of
from tests.pages.browser import poll
from tests.pages.looking import looking

# How often the page has asked since this was run.
COUNT = "() => { window.ticks = 0; document.body.addEventListener('tick', () => window.ticks++); }"


class Server:
    """gunicorn on a port that stays the same when it is started again."""

    def __init__(self, log):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        self.log, self.url = log, f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        flags = f"--bind=127.0.0.1:{self.port} --worker-class=gthread --no-control-socket"
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gunicorn", "tweetwatch.wsgi", *flags.split()],
                cwd=PROJECT,
                env={**os.environ, "DATABASE_URL": url_of(OURS), "HTTPS": "false"},
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
def test_a_dead_server_is_told_within_two_polls_and_so_is_that_it_is_back(server, staff):
    with looking(staff, server) as seen:
        page = seen.page
        button, notice = page.locator("[data-live]"), page.locator("[data-trouble]")

        # A page that asks for news, and one that has nothing to ask.
        page.goto(f"{server.url}/operations/")
        page.evaluate(COUNT)
        server.kill()
        notice.get_by_text("The server does not answer.").wait_for()
        polls = page.evaluate("() => window.ticks")
        said = button.inner_text()
        server.start()
        notice.get_by_text("The server answers again.").wait_for()
        again = button.inner_text()

        page.goto(f"{server.url}/following/")
        server.tell(signal.SIGSTOP)
        notice.get_by_text("The server does not answer.").wait_for()
        server.tell(signal.SIGCONT)
        notice.get_by_text("The server answers again.").wait_for()
        notice.wait_for(state="detached")

        assert (polls <= 2, said, again) == (True, "No answer", "Live")
        # The browser's and htmx's own words about each request that failed.
        told = ("console: htmx:", "console: Failed to load resource: net::ERR_")
        seen.faults[:] = [one for one in seen.faults if not one.startswith(told)]
