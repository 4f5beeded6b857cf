"""The real things that all tests share: a PostgreSQL that is as after migration, and a fake X."""

import gc
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack, suppress
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from time import monotonic, sleep

import hypothesis
import psycopg
import pytest
import requests
from django.conf import settings
from django.db import connection, connections
from django.test import TransactionTestCase

from tests.databases import (
    MIGRATED,
    OURS,
    TEMPLATE,
    Original,
    clone,
    drop,
    drop_leftovers,
    hurry,
    one_at_a_time,
    url_of,
)
from tests.firewall import DroppingPort
from tweetwatch.http import sending

# How long an input takes to make says how busy the machine is, and nothing of what is tested.
hypothesis.settings.register_profile(
    "busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("busy")

PROJECT = Path(__file__).resolve().parents[1]
# The first one is the same engine with no window around it: half the time of a processor.
CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMIUM = next(filter(None, map(shutil.which, CHROMIUMS)), None)
IS_SIDE_BY_SIDE = "PYTEST_XDIST_WORKER" in os.environ
NUMBERS = count(1)


@pytest.fixture(scope="session")
def django_db_modify_db_settings():
    settings.DATABASES["default"].setdefault("TEST", {})["NAME"] = OURS
    connection.settings_dict["TEST"]["NAME"] = OURS


@pytest.fixture(scope="session")
def its_turn(django_db_blocker):
    """To make the database; ended when that is done."""
    with ExitStack() as turn:
        with django_db_blocker.unblock():
            if is_embedded():
                hurry()
            if IS_SIDE_BY_SIDE:
                turn.enter_context(one_at_a_time())
        yield turn


@pytest.fixture(scope="session")
def django_db_keepdb(its_turn, django_db_modify_db_settings, django_db_blocker):
    """Whether there is a migrated database to copy. Django then finds nothing left to migrate."""
    if not IS_SIDE_BY_SIDE:
        return False
    with django_db_blocker.unblock(), suppress(psycopg.errors.InvalidCatalogName):
        clone(OURS, of=MIGRATED)
        return True
    return False


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_keepdb, its_turn, django_db_blocker, original):
    """And beside it, while nobody is connected, the template of all fresh databases.

    After a test that commits, Django would empty the tables: also of the rows that migrations
    made, and not those of unmanaged models. Here the next test gets the database as it was.
    """
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch:
        drop_leftovers()
        connection.close()
        clone(TEMPLATE, of=OURS)
        if IS_SIDE_BY_SIDE and not django_db_keepdb:
            clone(MIGRATED, of=TEMPLATE)
        its_turn.close()
        original.read()
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _test: restore(original))

        with django_db_blocker.block():
            yield
        drop(TEMPLATE)
        if django_db_keepdb:
            # Django keeps what it has not made.
            connections.close_all()
            drop(OURS)
        if IS_SIDE_BY_SIDE:
            # Whoever comes later than the first one leaves migrates for itself.
            with one_at_a_time():
                drop(MIGRATED)


@pytest.fixture(scope="session")
def original():
    return Original(TEMPLATE)


def restore(original):
    connections.close_all()
    original.put_back(OURS)


@pytest.fixture(scope="session")
def spare_databases(original, django_db_setup, django_db_blocker):
    """The names of fresh ones that nobody uses."""
    names = []
    yield names
    with django_db_blocker.unblock():
        for name in names:
            drop(name)


@pytest.fixture
def fresh_database(original, spare_databases, django_db_blocker):
    """The URL of a database as after migration, for processes."""
    with django_db_blocker.unblock():
        name = f"{OURS}_{next(NUMBERS)}"
        if spare_databases:
            original.rename(spare_databases.pop(), name)
        else:
            original.clone(name)
        url = url_of(name)
    yield url
    with django_db_blocker.unblock():
        original.put_back(name)
    spare_databases.append(name)


@pytest.hookimpl(trylast=True)
def pytest_configure():
    # Until the tests are collected hardly anything is garbage.
    gc.disable()
    # A fifth of a second of a processor for each user of a test, otherwise. Not on import: chaos
    # and the screenshots import this file too, before Django is set up.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # Otherwise each client begins with a look at every static file there is, which takes as long
    # as many a page. Processes that the tests start do that once, as in production.
    settings.WHITENOISE_AUTOREFRESH = True
    if is_embedded() and "EMBEDDED_POSTGRES_DIR" not in os.environ:
        # A server of the tests' own, for which its settings are. The processes that they start
        # read the variable.
        settings.EMBEDDED_POSTGRES_DIR = PROJECT / "var" / "tests" / "postgres"
        os.environ["EMBEDDED_POSTGRES_DIR"] = str(settings.EMBEDDED_POSTGRES_DIR)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Side by side, each process begins to read the tests at another place.

    In a fresh clone pytest compiles every file of them, which takes ten seconds of a processor; who
    comes to a file that another process has compiled reads what that one kept.
    """
    if not IS_SIDE_BY_SIDE or sys.dont_write_bytecode:
        return
    number = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw"))
    places = [Path(argument.partition("::")[0]) for argument in session.config.args]
    files = sorted(file.resolve() for place in places for file in place.rglob("test_*.py"))
    first = number * len(files) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for file in (*files[first:], *files[:first]):
        # What cannot be imported is told by the collection, which comes to it again.
        with suppress(Exception):
            import_module(".".join(file.relative_to(PROJECT).with_suffix("").parts))


def pytest_collection_finish():
    """What was made until now stays to the end, and is not looked through again and again."""
    gc.collect()
    gc.freeze()
    gc.enable()


def is_embedded():
    return settings.DATABASES["default"]["ENGINE"] == "tweetwatch.embedded_backend"


def pytest_collection_modifyitems(items):
    """The long ones first: side by side, one that begins last would be waited for."""
    long = ("benchmarks", "chaos", "flows", "pages")

    def turn(item):
        if item.get_closest_marker("alone"):
            item.add_marker(pytest.mark.xdist_group("alone"))
            return 0
        return 1 if item.path.parts[len(PROJECT.parts) + 1] in long else 2

    items.sort(key=turn)


def pytest_xdist_make_scheduler(config, log):
    """Any file at one worker; those that measure the machine at the same, one after the other."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class ByGroupOrFile(LoadGroupScheduling):
        def _split_scope(self, nodeid):
            return super()._split_scope(nodeid).split("::", 1)[0]

    return ByGroupOrFile(config, log)


@cache
def let_others_go_first():
    os.nice(10)


def pytest_runtest_setup(item):
    """What measures the machine, and the processes that it starts, get it whenever they want it."""
    if IS_SIDE_BY_SIDE and not item.get_closest_marker("alone"):
        let_others_go_first()


SESSIONS = """
    SELECT concat_ws(' ', pid, datname, state, wait_event_type, wait_event, now() - query_start,
                     'behind ' || nullif(pg_blocking_pids(pid), '{}')::text, left(query, 200))
    FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query_start IS NOT NULL
    ORDER BY query_start
"""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Of a test that took too long, what the server was doing then and who waited for whom."""
    report = yield
    if call.excinfo and "from pytest-timeout" in str(call.excinfo.value):
        with suppress(psycopg.Error), psycopg.connect(url_of("postgres"), autocommit=True) as db:
            lines = [line for (line,) in db.execute(SESSIONS)]
            report.sections.append(("PostgreSQL's sessions", "\n".join(lines)))
    return report


def pytest_itemcollected(item):
    """A folder says what its tests need, and `make quick` runs those that need little."""
    folder = item.path.parent.name
    database = item.get_closest_marker("django_db")
    if folder == "db" and not database:
        item.add_marker(pytest.mark.django_db)
    commits = (database and database.kwargs.get("transaction")) or not COMMITTING.isdisjoint(
        item.fixturenames
    )
    starts = any(item.get_closest_marker(name) for name in ("alone", "browser")) or not (
        STARTING.isdisjoint(item.function.__code__.co_names)
    )
    if folder in {"unit", "db"} and (commits or starts):
        what = "starts processes" if starts else "commits"
        raise pytest.UsageError(f"{item.nodeid} {what}; {folder}/ is not for that")
    if folder == "unit" and database:
        raise pytest.UsageError(f"{item.nodeid} needs a database; unit/ is not for that")


COMMITTING = {"fresh_database", "live_server", "transactional_db"}
STARTING = {"Demo", "Popen", "Product"}


class FakeX:
    """The fake X as a process of its own; everything is set and read over HTTP."""

    def __init__(self, url):
        self.url = url
        self.session = requests.Session()
        self.session.trust_env = False

    def tell(self, method, path, json=None):
        reply = self.session.request(
            method, f"{self.url}/_fake/{path.removeprefix('/_fake/')}", json=json, timeout=60
        )
        reply.raise_for_status()
        return reply.json()

    def get(self, path):
        return self.tell("GET", path)

    def put(self, path, json):
        return self.tell("PUT", path, json)

    def delete(self, path):
        return self.tell("DELETE", path)

    def ids(self, count):
        """Ids of tweets of all ages, as integers."""
        return [int(id) for id in self.get(f"ids?limit={count}")["ids"]]

    def log(self):
        """The requests since the test began, oldest first."""
        return self.get("log")["entries"]

    def reset(self):
        subjects = ("faults", "credentials", "tweets", "contents", "authors", "limits", "posts")
        for subject in (*subjects, "lists", "log", "stream", "connections"):
            self.delete(subject)
        many = {"token": 1_000_000, "app": 1_000_000, "window": 900}
        endpoints = (
            "GET /2/tweets",
            "GET /2/users",
            "GET /1.1/statuses/lookup",
            "GET /2/users/by",
            "GET /2/users/:id/tweets",
            "GET /2/users/:id/mentions",
            "GET /2/tweets/search/recent",
            "GET /2/lists/:id/tweets",
        )
        self.put("limits", dict.fromkeys(endpoints, many))
        self.put("credentials", {"strict": False})
        self.put("latency", {"ms": 0})
        self.put("log", {"detail": "full"})
        self.put("world", {"engagement": "natural", "old_versions": "newest"})
        self.put("world", {"search_newest_s": 30, "search_end_s": 10})
        self.put("clock", {"ahead_s": 0})


@pytest.fixture(autouse=True)
def _no_file_keeps_its_place():
    """What one test leaves open takes a place from the next, until it happens to be collected."""
    yield
    if sending.places._value < sending.MAX_FILES_SENT:
        gc.collect()
    end = monotonic() + 10
    while sending.places._value < sending.MAX_FILES_SENT:
        assert monotonic() < end, "a file is still being sent: close the answer"
        sleep(0.01)


@pytest.fixture(autouse=True)
def _archive_was_looked_for():
    """Whether anything is archived is asked twice a minute: in the middle of a test it would be a
    statement more."""
    from trackers.tweets.archive.read import disuse

    disuse.begin("Asked before the test.")


@pytest.fixture
def firewall():
    """A port where whoever connects hears nothing."""
    port = DroppingPort()
    yield port
    port.close()


@pytest.fixture(scope="session")
def running_fakex():
    process = subprocess.Popen(
        [sys.executable, "-m", "fakex", "--port", "0", "--tweets", "10000"],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
    )
    yield FakeX(process.stdout.readline().split()[-1])
    process.terminate()
    process.wait(10)
    process.stdout.close()


@pytest.fixture
def fakex(running_fakex):
    """A fake X with nothing set; one process serves the whole run."""
    running_fakex.reset()
    return running_fakex
