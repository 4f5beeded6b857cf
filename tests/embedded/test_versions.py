"""Data of another major version: told at once, and upgraded without a risk to the old ones."""

from __future__ import annotations

import os
import subprocess
import sys

import psycopg
import pytest

from tests.conftest import PROJECT
from tweetwatch.embedded.upgraded import upgraded
from tweetwatch.embedded.versions import (
    OtherVersionError,
    data_version,
    installed_version,
    programs,
)

from .conftest import REFUSED, fetch, poll

OLD = 16
MADE = """
    CREATE ROLE reader LOGIN;
    CREATE TABLE words (id int GENERATED ALWAYS AS IDENTITY, word text NOT NULL UNIQUE);
    INSERT INTO words (word) SELECT 'word ' || n FROM generate_series(1, 1000) AS n;
    CREATE TABLE parted (at int) PARTITION BY RANGE (at);
    CREATE TABLE part PARTITION OF parted FOR VALUES FROM (0) TO (9);
    INSERT INTO parted VALUES (1), (2);
    CREATE SEQUENCE numbers;
    SELECT setval('numbers', 41);
    GRANT SELECT ON words TO reader;
    ALTER TABLE words OWNER TO tweetwatch;
"""
# Works where `public` is searched, which it is not while a dump is loaded.
CANNOT_BE_LOADED = """
    CREATE FUNCTION known(int) RETURNS bool LANGUAGE plpgsql AS
        'BEGIN RETURN EXISTS (SELECT FROM words WHERE id = $1); END';
    CREATE TABLE checked (id int CHECK (known(id)));
    INSERT INTO checked VALUES (1);
"""


@pytest.fixture
def old(server):
    """A server of an older version that was used, and is not any more."""
    user = server.user(PGSERVER_POSTGRES_VERSION=str(OLD))
    execute(user.url(), MADE)
    user.leave()
    assert poll(server.is_over)
    assert data_version(server.place.data) == OLD < installed_version()
    return server


def execute(url, statements):
    url = url.replace("postgres://tweetwatch:", "postgres://postgres:")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statements)


def manage(server, *arguments):
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=PROJECT,
        env={**os.environ, "EMBEDDED_POSTGRES_DIR": str(server.directory)},
        capture_output=True,
        text=True,
    )


def test_older_data_are_told_of_at_once_and_upgraded_with_all_that_is_in_them(old):
    refused = manage(old, "status")
    assert refused.stderr == (
        f"The data in {old.place.data} is from PostgreSQL {OLD}, but "
        f"{installed_version()} is installed: stop every process of tweetwatch and run "
        "`manage.py embedded upgrade`, which copies the data and keeps the old folder.\n"
    )

    ran = manage(old, "embedded", "upgrade")

    assert ran.returncode == 0, ran.stderr
    assert "2 tables with 1,002 rows, in both the same" in ran.stdout
    kept = old.directory / f"data.{OLD}"
    assert f"The old data is in {kept}" in ran.stdout
    assert data_version(kept) == OLD
    assert {path.name for path in old.directory.iterdir()} == {
        *("data", kept.name, "keeper.lock", "keeper.log", "users.lock")
    }
    url = old.user().url()
    assert fetch(url, "SELECT count(*) FROM words") == [(1000,)]
    assert fetch(url, "SELECT nextval('numbers'), current_setting('server_version_num')::int") == [
        (42, pytest.approx(installed_version() * 10_000, abs=9_999))
    ]
    assert fetch(url.replace("tweetwatch:", "reader:"), "SELECT sum(id) FROM words") == [(500500,)]
    execute(url, "SET ROLE tweetwatch; INSERT INTO words (word) VALUES ('another')")


@pytest.mark.more
def test_an_upgrade_that_fails_leaves_everything_as_it_was(old):
    user = old.user(PGSERVER_POSTGRES_VERSION=str(OLD))
    execute(user.url(), CANNOT_BE_LOADED)
    while_used = manage(old, "embedded", "upgrade")
    user.leave()
    assert poll(old.is_over)

    ran = manage(old, "embedded", "upgrade")

    assert while_used.returncode == 1
    assert str(user.process.pid) in while_used.stderr.rpartition("users: ")[2]
    assert "Stop the processes that use it first" in while_used.stderr
    assert ran.returncode == 1
    assert 'relation "words" does not exist' in ran.stderr
    assert "The data is unchanged" in ran.stderr
    assert not [*old.directory.glob("upgrade-*"), *old.directory.glob("data.*")]
    again = old.user(PGSERVER_POSTGRES_VERSION=str(OLD))
    assert fetch(again.url(), "SELECT count(*) FROM checked") == [(1,)]


def test_one_that_was_interrupted_in_the_exchange_is_finished_by_the_next_start(server):
    user = server.user()
    execute(user.url(), "CREATE TABLE kept AS SELECT 1 AS n")
    user.leave()
    assert poll(server.is_over)
    server.place.data.rename(upgraded(server.place))

    assert fetch(server.user().url(), "SELECT n FROM kept") == [(1,)]


def test_newer_data_are_told_of_at_once(server):
    user = server.user()
    user.url()
    user.leave()
    assert poll(server.is_over)

    said = server.user(code=REFUSED, PGSERVER_POSTGRES_VERSION=str(OLD)).url()

    assert f"is from PostgreSQL {installed_version()}, but {OLD} is installed: an older" in said


def test_the_programs_of_a_version_are_found_or_asked_for(tmp_path):
    assert (programs(OLD) / "pg_dump").exists()
    assert programs(OLD, given=programs(OLD)) == programs(OLD)
    with pytest.raises(OtherVersionError, match=r"none was found: install .*postgresql-9"):
        programs(9)
    with pytest.raises(OtherVersionError, match=f"{tmp_path} has none"):
        programs(OLD, given=tmp_path)
    with pytest.raises(OtherVersionError, match="has none"):
        programs(OLD, given=programs(installed_version()))
