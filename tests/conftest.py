"""The real things that all tests share: a PostgreSQL that is as after migration, and a fake X.

Each run has a database of its own name, so that several can run side by side on one server.
"""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import quote, urlencode

import hypothesis
import psutil
import psycopg
import pytest
import requests
from django.conf import settings
from django.db import connection, connections
from django.test import TransactionTestCase
from psycopg import sql

from tests.firewall import DroppingPort
from tweetwatch.http import sending

# How long an input takes to make says how busy the machine is, and nothing of what is tested.
hypothesis.settings.register_profile(
    "busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("busy")

PROJECT = Path(__file__).resolve().parents[1]
OURS = f"test_tweetwatch_{os.getpid()}"
TEMPLATE = f"{OURS}_template"
# Of all the processes of a run: the first of them migrates it, and the others copy it.
MIGRATED = f"test_tweetwatch_{os.getppid()}_migrated"
IS_SIDE_BY_SIDE = "PYTEST_XDIST_WORKER" in os.environ
NUMBERS = count(1)


def url_of(database):
    """Where a database of the tests' server is, as DATABASE_URL says it."""
    params = connection.get_connection_params()
    who, secret = quote(params.get("user", ""), safe=""), quote(params.get("password", ""), safe="")
    who = f"{who}:{secret}" if secret else who
    host = params.get("host", "")
    if host.startswith("/") or not host:
        return f"postgres://{who}@/{database}?{urlencode({'host': host})}"
    return f"postgres://{who}@{host}:{params.get('port') or 5432}/{database}"


def administer(statement, *names):
    """One statement outside of every transaction, on the server's own database."""
    with psycopg.connect(url_of("postgres"), autocommit=True) as admin:
        admin.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def clone(name, *, of):
    administer("CREATE DATABASE {} TEMPLATE {}", name, of)


def drop(name):
    administer("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)


def drop_leftovers():
    """The databases of runs that were killed."""
    with psycopg.connect(url_of("postgres"), autocommit=True) as admin:
        names = admin.execute(
            "SELECT datname FROM pg_database WHERE datname ~ '^test_tweetwatch_[0-9]+(_|$)'"
        ).fetchall()
    for (name,) in names:
        if not psutil.pid_exists(int(name.split("_")[2])):
            with suppress(psycopg.Error):
                administer("DROP DATABASE IF EXISTS {}", name)


@contextmanager
def one_at_a_time():
    """Of the processes of a run. Nothing to wait for where there is only one."""
    with psycopg.connect(url_of("postgres"), autocommit=True) as admin:
        admin.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [MIGRATED])
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings():
    settings.DATABASES["default"].setdefault("TEST", {})["NAME"] = OURS
    connection.settings_dict["TEST"]["NAME"] = OURS


@pytest.fixture(scope="session")
def its_turn(django_db_blocker):
    """To make the database; ended when that is done."""
    with ExitStack() as turn:
        if IS_SIDE_BY_SIDE:
            with django_db_blocker.unblock():
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
def django_db_setup(django_db_setup, django_db_keepdb, its_turn, django_db_blocker):
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
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _test: restore())

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


def restore():
    connections.close_all()
    drop(OURS)
    clone(OURS, of=TEMPLATE)


@pytest.fixture
def fresh_database(django_db_setup, django_db_blocker):
    """The URL of a database as after migration, for processes; dropped at the end."""
    name = f"{OURS}_{next(NUMBERS)}"
    with django_db_blocker.unblock():
        clone(name, of=TEMPLATE)
        url = url_of(name)
    yield url
    with django_db_blocker.unblock():
        drop(name)


@pytest.hookimpl(trylast=True)
def pytest_configure():
    # A fifth of a second of a processor for each user of a test, otherwise. Not on import: chaos
    # and the screenshots import this file too, before Django is set up.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def pytest_collection_modifyitems(items):
    """The long ones first: side by side, one that begins last would be waited for."""
    long = ("benchmarks", "chaos", "flows", "pages")
    items.sort(key=lambda item: item.path.parts[len(PROJECT.parts) + 1] not in long)


def pytest_itemcollected(item):
    if is_quick(item):
        item.add_marker("quick")


# Whole folders, which start processes or go through every page, call and role.
NOT_QUICK = {
    "access", "admin", "api", "benchmarks", "bus", "chaos", "cluster", "embedded", "files",
    "flows", "test_browser.py", "test_statements.py",
}  # fmt: skip
# What a module imports that starts processes and servers, or fills large tables.
SLOW = {
    "subprocess", "threading", "hypothesis",
    "tests.large_tables", "tests.plans", "tests.jobs.plans", "tests.queues", "tests.jobs.ordinary",
    "tests.pages.many", "tests.pages.sources",
}  # fmt: skip
IMPORTED = re.compile(r"^(?:from (?!tests import)(\S+) import|import (\S+))", re.MULTILINE)
OF_TESTS = re.compile(r"^from tests import (.+)", re.MULTILINE)


def pytest_ignore_collect(collection_path, config):
    """`-m quick` reads only modules that have quick tests: reading all of them takes as long as
    running these."""
    if config.option.markexpr == "quick" and collection_path.name.startswith("test_"):
        return not may_be_quick(collection_path) or None
    return None


def is_quick(item):
    """It starts no process, browser or bench, fills no large table, and commits nothing: otherwise
    the database would be made again."""
    database = item.get_closest_marker("django_db")
    return may_be_quick(item.path) and not (
        any(item.get_closest_marker(name) for name in ("alone", "browser", "more"))
        or (database and database.kwargs.get("transaction"))
        or {"fresh_database", "transactional_db"} & set(item.fixturenames)
    )


@cache
def may_be_quick(path):
    if NOT_QUICK & set(path.parts[len(PROJECT.parts) :]):
        return False
    text = path.read_text()
    imported = {one for pair in IMPORTED.findall(text) for one in pair}
    of_tests = {f"tests.{name}" for line in OF_TESTS.findall(text) for name in line.split(", ")}
    return not SLOW & (imported | of_tests)


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
        subjects = ("faults", "credentials", "tweets", "said", "authors", "limits", "posts")
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
    if sending.places._value < sending.AT_ONCE:
        gc.collect()
    end = monotonic() + 10
    while sending.places._value < sending.AT_ONCE:
        assert monotonic() < end, "a file is still being sent: close the answer"
        sleep(0.01)


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
