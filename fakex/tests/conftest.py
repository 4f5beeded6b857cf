import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import pytest
import requests

from fakex.tests.listener import Listener

SET_BY_TESTS = (
    "faults",
    "credentials",
    "tweets",
    "contents",
    "authors",
    "posts",
    "lists",
    "stream",
    "projects",
    "log",
    "limits",
    "connections",
)
LISTING = (
    "GET /2/users/:id/tweets",
    "GET /2/users/:id/mentions",
    "GET /2/tweets/search/recent",
    "GET /2/lists/:id/tweets",
)
STREAMING = (
    "GET /2/tweets/search/stream",
    "GET /2/tweets/search/stream/rules",
    "POST /2/tweets/search/stream/rules",
)
FIELDS = "created_at,author_id,public_metrics"


class FakeX:
    """A fake X in a process of its own, and short ways to ask it."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "fakex", "--port", "0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        said = self.process.stdout.readline()
        assert said.startswith("fake X listening on http://127.0.0.1:"), said
        self.url = said.rsplit(" ", 1)[1].strip()
        self.session = requests.Session()
        self.session.trust_env = False

    def stop(self) -> int:
        self.session.close()
        self.process.terminate()
        code = self.process.wait(timeout=10)
        self.process.stdout.close()
        return code

    def fake(self, method: str, path: str, body=None) -> dict:
        reply = self.session.request(method, f"{self.url}/_fake/{path}", json=body)
        reply.raise_for_status()
        return reply.json()

    def get(
        self, path: str, *, token: str = "any", now_ms: int | str | None = None, **params: str
    ) -> requests.Response:
        """Ask X; with `now_ms` at an instant of the test's own."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if now_ms is not None:
            headers["X-Fake-Now"] = str(now_ms)
        return self.session.get(self.url + path, params=params, headers=headers)

    def tweets(self, ids: list[str], **params) -> requests.Response:
        return self.get("/2/tweets", ids=",".join(ids), **params)

    def ids(self, limit: int = 100, offset: int = 0) -> list[str]:
        return self.fake("GET", f"ids?limit={limit}&offset={offset}")["ids"]

    def live_ids(self, count: int) -> list[str]:
        """Ids which have been shown as live just now."""
        shown = self.tweets(self.ids(100)).json()["data"]
        return [tweet["id"] for tweet in shown][:count]

    def release(self, **flow) -> dict:
        """Let posts appear; at once and all of them, unless the test says otherwise."""
        at_once = {"usual_ms": 0, "late_share": 0, "very_late_share": 0}
        return self.fake("POST", "posts", {"lag": at_once, **flow})

    def visible(self, **which) -> list[dict]:
        """What appeared so far, or is to appear by `until_ms`, first things first."""
        return self.fake("GET", "visible?" + urlencode(which))["posts"]

    def authors(self, count: int) -> list[str]:
        """Ids of accounts that nothing befalls."""
        known = self.fake("GET", "authors")["authors"]
        return [author["id"] for author in known if author["steady"]][:count]

    def entry(self) -> dict:
        """The newest line of the log."""
        return self.fake("GET", "log")["entries"][-1]


@pytest.fixture
def start_x() -> Iterator[Callable[..., FakeX]]:
    """Starts fakes with options of the test's own and ends them after it."""
    started: list[FakeX] = []

    def start(*options: str) -> FakeX:
        started.append(FakeX(*options))
        return started[-1]

    yield start
    for x in started:
        x.stop()


@pytest.fixture(scope="session")
def shared_x() -> Iterator[FakeX]:
    x = FakeX("--seed", "7", "--tweets", "5000")
    yield x
    x.stop()


@pytest.fixture
def x(shared_x: FakeX) -> FakeX:
    """The shared fake, with everything that can be set as it was at first."""
    for subject in SET_BY_TESTS:
        shared_x.fake("DELETE", subject)
    usual = {"project": None, "window": 900, "user_a_day": None, "app_a_day": None}
    many = {"token": 5000, "app": 3500, **usual}
    few = {"token": 900, "app": 300, **usual}
    free = {"token": None, "app": None, **usual}
    shared_x.fake(
        "PUT",
        "limits",
        {
            "GET /2/tweets": many,
            "GET /2/users": few,
            "GET /1.1/statuses/lookup": few,
            "GET /2/usage/tweets": {**free, "app": 50},
            "POST /2/oauth2/token": free,
            **dict.fromkeys(LISTING, many),
            **dict.fromkeys(STREAMING, free),
        },
    )
    clock = {"clock_speed": 1, "ahead_s": 0, "billing_offset_s": 0, "allow_fake_now": False}
    shared_x.fake("PUT", "clock", clock)
    shared_x.fake("PUT", "credentials", {"strict": False})
    shared_x.fake("PUT", "latency", {"ms": 0, "token_ms": 0})
    shared_x.fake("PUT", "log", {"detail": "full"})
    shared_x.fake(
        "PUT",
        "world",
        {
            "engagement": "natural",
            "problem_host": "api.twitter.com",
            "gzip": False,
            "depleted": "credits-depleted",
            "usage_numbers": "strings",
            "vocabulary": "both",
            "old_versions": "newest",
            "search_newest_s": 30,
            "search_end_s": 10,
        },
    )
    return shared_x


@pytest.fixture
def listen(x):
    """Opens streams, and ends them all after the test."""
    x.fake("PUT", "stream", {"rule_delay_s": 0})
    opened = []

    def start(**options):
        opened.append(Listener(x, **options))
        return opened[-1]

    yield start
    x.fake("DELETE", "stream")
    for listener in opened:
        listener.close()


@pytest.fixture
def author(x):
    return x.authors(1)[0]


@pytest.fixture
def path(author):
    return f"/2/users/{author}/tweets"


def wait_until(true: Callable[[], bool], *, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
