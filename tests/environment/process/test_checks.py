"""`manage.py check` compares the time-outs with what is in the database."""

import os
import subprocess
import sys
from hashlib import sha256

import psycopg
import pytest
from django.core.checks import run_checks
from django.db import connection
from django.utils import timezone

from tests.conftest import PROJECT
from tests.databases import url_of
from tests.factories import CredentialFactory
from trackers.backups.file import Manifest
from trackers.checks import database_keeps_every_text
from trackers.jobs.models import Queue
from tweetwatch.checks import framing_sites_are_sites, primary_is_chosen


@pytest.mark.parametrize("command", ["check", "interval list"])
def test_a_task_time_limit_beyond_a_lease_stops_every_command(fresh_database, command):
    ran = subprocess.run(
        [sys.executable, "manage.py", *command.split()],
        cwd=PROJECT,
        env={**os.environ, "DATABASE_URL": fresh_database, "TASK_TIMEOUT": "600"},
        capture_output=True,
        text=True,
    )

    assert ran.returncode == 1
    assert "TASK_TIMEOUT (600 s) is not shorter than the lease of tweet:update (60 s)" in ran.stderr


def test_a_command_loads_no_page_no_fake_x_no_api_and_no_http_client(fresh_database):
    program = (
        "import sys; from tweetwatch.command_line import run_command;"
        "status = run_command(['manage.py', 'interval', 'list', '--json']);"
        "seen = {'trackers.dashboards.urls', 'trackers.api.urls', 'fakex.x', 'ninja', 'pydantic'};"
        "seen |= {'aiohttp', 'tweepy'};"
        "print(*sorted(seen & set(sys.modules)), file=sys.stderr); sys.exit(status)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=PROJECT,
        env={
            **os.environ,
            "DATABASE_URL": fresh_database,
            "DJANGO_SETTINGS_MODULE": "tweetwatch.settings",
        },
        capture_output=True,
        text=True,
    )

    assert (ran.returncode, ran.stderr.split()) == (0, [])


@pytest.mark.django_db
def test_a_longer_lease_allows_a_longer_task(settings):
    settings.TASK_TIMEOUT = 600
    assert {one.id for one in run_checks()} >= {"trackers.E001"}

    Queue.objects.update(lease="0:15:00")

    assert not [one for one in run_checks() if one.id == "trackers.E001"]


@pytest.mark.django_db
def test_two_requests_fit_into_a_task_where_tokens_are_renewed(settings):
    settings.TASK_TIMEOUT = 29
    assert not [one for one in run_checks() if one.id == "trackers.E002"]

    user = CredentialFactory(name="user", kind="oauth2")

    [error] = [one for one in run_checks() if one.id == "trackers.E002"]
    assert "twice REQUEST_TIMEOUT (30 s)" in error.msg
    assert "the credential user" in error.msg
    user.disable("by hand", now=timezone.now())
    assert not [one for one in run_checks() if one.id == "trackers.E002"]


EVERY = ("migrate", "check", "restore {}")


@pytest.fixture
def unfit_database(request):
    """Its URL, and what is wrong with it."""
    name = f"test_unfit_{os.getpid()}_{request.param.lower()}"
    how = f"ENCODING '{request.param}' LOCALE 'C'"
    fault = f"has the encoding {request.param}, in which most posts cannot be kept."
    with psycopg.connect(url_of("postgres"), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name} {how} TEMPLATE template0")
        yield url_of(name), fault
        db.execute(f"DROP DATABASE {name} WITH (FORCE)")


# Which encoding it is, no command asks for itself.
@pytest.mark.parametrize(
    ("unfit_database", "commands"),
    [("LATIN1", EVERY), ("SQL_ASCII", EVERY[:1])],
    indirect=["unfit_database"],
    ids=["LATIN1", "SQL_ASCII"],
)
def test_a_database_that_cannot_keep_every_text_is_refused(unfit_database, commands, tmp_path):
    url, fault = unfit_database
    manifest = Manifest(
        timezone.now(), "1.0.0", 15, 15, [], "public", {}, [], [], [],
        0, 5, sha256(b"PGDMP").hexdigest(),
    )  # fmt: skip
    file = tmp_path / "a.dump"
    file.write_bytes(b"PGDMP\n" + manifest.line() + b"\n")

    for command in commands:
        ran = subprocess.run(
            [sys.executable, "manage.py", *command.format(file).split()],
            cwd=PROJECT,
            env={**os.environ, "DATABASE_URL": url},
            capture_output=True,
            text=True,
        )

        assert ran.returncode == 1, (command, ran.stderr)
        assert fault in ran.stderr, (command, ran.stderr)
        assert "CREATE DATABASE tweets ENCODING 'UTF8'" in ran.stderr
    with psycopg.connect(url) as db:
        tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        assert db.execute(tables).fetchone() == (0,)


@pytest.mark.django_db
def test_a_database_that_lowers_letters_as_turkish_does_is_refused():
    assert database_keeps_every_text() == []
    with connection.cursor() as cursor:
        # No machine is sure to have that locale; so this is what its function does.
        cursor.execute(
            "CREATE FUNCTION public.lower(text) RETURNS text LANGUAGE sql"
            " RETURN translate($1, 'TIANC', 'tıanc')"
        )
        cursor.execute("SET LOCAL search_path = public, pg_catalog")

    [error] = database_keeps_every_text()

    assert error.id == "trackers.E004"
    assert "a search for titanic would not find TITANIC" in error.msg


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("host", "options", "warned"),
    [
        ("a,b", {}, True),
        ("a,b", {"target_session_attrs": "read-write"}, False),
        ("a", {}, False),
        ("", {}, False),
    ],
)
def test_several_hosts_without_a_choice_of_the_primary_are_warned_of(
    settings, host, options, warned
):
    settings.DATABASES = {"default": {"HOST": host, "OPTIONS": options}}

    assert [one.id for one in primary_is_chosen()] == ["tweetwatch.W003"] * warned


@pytest.mark.parametrize(
    ("sites", "is_well"),
    [
        (["'none'"], True),
        (["https://news.example", "https://*.example.org:8443"], True),
        (["*"], False),
        (["https://news.example; script-src *"], False),
        (["http://news.example"], False),
    ],
)
def test_only_sites_may_frame_a_share(settings, sites, is_well):
    settings.SHARE_FRAME_ANCESTORS = sites

    assert (framing_sites_are_sites() == []) == is_well
