"""Pages as a person of the staff gets them, over rows as the updater writes them."""

import os
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User

from tests.conftest import CHROMIUM
from tests.environment.proxies import PROXIES
from tests.factories import TweetFactory, TweetUpdateFactory, id_born
from tests.standbys.fence import pages_only_read  # noqa: F401
from trackers.listing import search, sorts
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import METRICS, Author, TweetText
from trackers.tweets.record import Measured, record
from trackers.xapi.results import Figures

# One of the proxies of deploy/, before the server of the browser tests.
BEHIND = os.environ.get("BEHIND")
began_at = datetime.now(UTC)


def pytest_collection_modifyitems(config, items):
    """Without a Chromium the browser tests are left out, in one line; in CI that is an error.

    Behind a proxy only those run that it stands before.
    """
    if BEHIND:
        items[:] = [item for item in items if "live_server" in item.fixturenames]
    if CHROMIUM:
        return
    left_out = [item for item in items if item.get_closest_marker("browser")]
    if not left_out:
        return
    sentence = f"{len(left_out)} browser tests: there is no chromium on the PATH"
    if os.environ.get("BROWSER_TESTS") == "required":
        raise pytest.UsageError(f"BROWSER_TESTS=required, but {sentence}.")
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)
    config.get_terminal_writer().line(f"Left out {sentence}.")


class Behind:
    """The test's own server, as it is reached through a proxy."""

    def __init__(self, server, port):
        self.server, self.url = server, f"http://localhost:{port}"

    def __getattr__(self, name):
        return getattr(self.server, name)


@pytest.fixture
def live_server(live_server, tmp_path_factory):
    """Where BEHIND names one of the proxies of deploy/, behind that. Of one test: a connection that
    the proxy keeps would keep one to the database, which every test ends."""
    if BEHIND is None:
        yield live_server
        return
    with PROXIES[BEHIND](live_server.thread.port, tmp_path_factory.mktemp("proxy")) as port:
        yield Behind(live_server, port)


@pytest.fixture(autouse=True)
def _plain_http(settings):
    settings.SECURE_SSL_REDIRECT = False


@pytest.fixture(autouse=True)
def _begin():
    """A run may be long, and what grew in the last 15 minutes is asked for."""
    global began_at
    began_at = datetime.now(UTC)


@pytest.fixture(autouse=True)
def _patient_searches(monkeypatch):
    """On a busy machine a search may be stopped at its limit, whose tests have real processes."""
    for module in (search, sorts):
        monkeypatch.setattr(module, "SEARCH_TIMEOUT", timedelta(minutes=1))
    monkeypatch.setattr(sorts, "_SEARCH_TIME", 60)


@pytest.fixture
def staff(client, db):
    """A client that is logged in as an administrator."""
    client.force_login(User.objects.create_superuser("ada", "", "a password of no account"))
    return client


def flat(answer):
    """The HTML of an answer in one line, without whitespace that does not show: in tags, at the
    ends of elements, and between the cells of tables and lists."""
    line = " ".join(answer.content.decode().split()).replace(" >", ">")
    line = re.sub(r"(<[a-z][^>]*>) ", r"\1", line).replace(" </", "</")
    return re.sub(r"(</(?:dt|dd|dl|div|td|th|tr)>) (?=<)", r"\1", line)


def born():
    """When the tweet of this test was born: ten minutes before the test began."""
    return began_at.replace(microsecond=0) - timedelta(minutes=10)


def watched(low=0, *, text="Some words", author_id=7, username="ada", due_in=48, **given):
    """A tweet that is kept fresh, born ten minutes ago and not measured yet."""
    author, _ = Author.objects.get_or_create(id=author_id, defaults={"username": username})
    tweet = TweetFactory(id=id_born(born(), low), author=author, created_at=born(), **given)
    TweetText.objects.create(tweet=tweet, text=text, kind=PostKind.TEXT)
    TweetUpdateFactory(key=tweet.id, due_at=datetime.now(UTC) + timedelta(seconds=due_in))
    return tweet


def measure(tweet, seconds, **counts):
    """X answered with these counts so many seconds after the tweet's birth; the others are 0."""
    given = Figures(*(counts.get(metric, 0) for metric in METRICS))
    at = born() + timedelta(seconds=seconds)
    record([Measured(tweet.id, at, given, hole_after=timedelta(seconds=120))])
