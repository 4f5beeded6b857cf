"""A migration beside workers: none takes a lock for long, and `migrate` waits for none for long."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor

from tests.conftest import PROJECT
from tweetwatch.database import compact_sql

# Those up to this one fill an empty database, in which nobody works yet.
LAST_OF_THE_FIRST = "0003_first_rows"
# Of some dozens of rows, whatever is tracked: nobody waits long for these.
SMALL = {
    *(
        "alertdigest",
        "app",
        "budget",
        "column",
        "credential",
        "feedaddress",
        "flow",
        "importfile",
        "interval",
    ),
    *("milestone", "queue", "project", "source", "stream", "subscriber", "apitoken", "worker"),
    *("alertdigest", "savedview", "trouble"),
}
# `migrate` sets the time-out for locks itself; the rest is about taste.
LEFT_OUT = (
    "require-lock-timeout,require-statement-timeout,prefer-robust-stmts,prefer-bigint-over-int,"
    "prefer-bigint-over-smallint,prefer-identity,prefer-text-field,prefer-timestamp-tz,"
    "identifier-too-long"
)
SQUAWK = shutil.which("squawk", path=str(Path(sys.executable).parent)) or "squawk"
STATEMENT = re.compile(r'\b(?:TABLE|ON|UPDATE|FROM|INTO)\s+(?:ONLY\s+)?"?trackers_(\w+?)"?[\s(;]')


def faults(sql, *, atomic):
    """What squawk has against it, each with its statement; not about small tables."""
    if not sql.strip():
        return []
    flags = ["--reporter", "json", "--pg-version", "15.0", "--exclude", LEFT_OUT]
    if atomic:
        flags.append("--assume-in-transaction")
    ran = subprocess.run(
        [SQUAWK, *flags, "--stdin-filepath", "it.sql"], input=sql, capture_output=True, text=True
    )
    assert ran.stdout, ran.stderr
    lines = sql.splitlines()
    found = [(one["rule_name"], lines[one["line"]]) for one in json.loads(ran.stdout)]
    return [(rule, line) for rule, line in found if not concerns_small_ones_alone(line)]


def concerns_small_ones_alone(statement):
    tables = set(STATEMENT.findall(statement))
    return bool(tables) and tables <= SMALL


@pytest.mark.django_db
def test_no_migration_takes_a_lock_that_workers_wait_for(monkeypatch):
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes("trackers"), clean_start=True)
    migrations = [migration for migration, _ in plan]
    ours = [one for one in migrations if one.app_label == "trackers"]

    def sql_of(*some):
        with monkeypatch.context() as patch:
            # Nothing is executed, so the transaction around a test makes no difference.
            around = all(one.atomic for one in some)
            patch.setattr(connections["default"], "in_atomic_block", around)
            statements = executor.loader.collect_sql([(one, False) for one in some])
        return "".join(f"{compact_sql(one)}\n" for one in statements if not one.startswith("--"))

    # Those of other applications change tables of their own, which nobody uses yet either.
    first = [one for one in ours if one.name <= LAST_OF_THE_FIRST]
    before = sql_of(*(one for one in migrations if one not in ours))
    problems = faults(before + sql_of(*first), atomic=True)[len(faults(before, atomic=True)) :]
    for migration in ours[len(first) :]:
        problems += faults(sql_of(migration), atomic=migration.atomic)

    said = [f"{rule}: {line}" for rule, line in problems]
    assert problems == [], "\n".join([*said, "UPGRADING.md says how a migration avoids this."])


@pytest.mark.parametrize(
    "statement",
    [
        'CREATE INDEX "x" ON "trackers_tweet" ("lang");',
        'ALTER TABLE "trackers_tweet" ADD COLUMN "x" bigint NOT NULL;',
        'ALTER TABLE "trackers_tweet" ALTER COLUMN "lang" TYPE text;',
        'ALTER TABLE "trackers_tweet" ALTER COLUMN "lang" SET NOT NULL;',
        'ALTER TABLE "trackers_tweet" ADD CONSTRAINT "x" CHECK ("n" > 0);',
        'ALTER TABLE "trackers_tweet" ADD CONSTRAINT "x" UNIQUE ("n");',
        'ALTER TABLE "trackers_tweet" DROP COLUMN "lang";',
        'ALTER TABLE "trackers_tweet" RENAME COLUMN "lang" TO "language";',
    ],
)
def test_the_check_sees_what_makes_workers_wait_or_fail(statement):
    assert faults(f"{statement}\n", atomic=True)


@pytest.mark.parametrize(
    ("statement", "atomic"),
    [
        ('ALTER TABLE "trackers_tweet" ADD COLUMN "x" bigint NULL;', True),
        ('CREATE INDEX CONCURRENTLY "x" ON "trackers_tweet" ("lang");', False),
        ('CREATE TABLE "trackers_new" ("id" bigint NOT NULL PRIMARY KEY);', True),
        ('ALTER TABLE "trackers_tweet" ADD CONSTRAINT "x" CHECK ("n" > 0) NOT VALID;', True),
        ('CREATE INDEX "x" ON "trackers_queue" ("name");', True),
    ],
)
def test_the_check_accepts_harmless_statements(statement, atomic):
    assert faults(f"{statement}\n", atomic=atomic) == []


def migrate(url, *arguments):
    return subprocess.Popen(
        [sys.executable, "manage.py", "migrate", *arguments],
        cwd=PROJECT,
        env={**os.environ, "DATABASE_URL": url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.django_db
def test_migrate_lets_workers_pass_while_it_cannot_get_a_table(fresh_database):
    """Behind a long reader it would be waited for by everybody; it gives up each time instead."""
    with psycopg.connect(fresh_database) as reader, psycopg.connect(fresh_database) as worker:
        reader.execute("SELECT count(*) FROM trackers_tweetupdate")
        running = migrate(fresh_database, "trackers", "zero")
        said = iter(running.stdout.readline, "")
        assert any("trying again" in line for line in said)
        # Without its patience this would wait for as long as the reader reads.
        worker.execute("SET statement_timeout = '60s'")
        worker.execute("LOCK TABLE trackers_tweetupdate IN ROW EXCLUSIVE MODE")
        worker.rollback()
        reader.rollback()
        rest, errors = running.communicate(timeout=120)

    assert running.returncode == 0, errors
    with psycopg.connect(fresh_database) as there:
        left = there.execute("SELECT to_regclass('trackers_tweetupdate')").fetchall()
    assert left == [(None,)], rest


@pytest.mark.django_db
def test_migrate_gives_up_with_a_sentence(fresh_database):
    with psycopg.connect(fresh_database) as reader:
        reader.execute("SELECT count(*) FROM trackers_tweetupdate")
        arguments = ("trackers", "zero", "--give-up-after", "0")
        _, errors = migrate(fresh_database, *arguments).communicate(timeout=120)

    assert "A table stayed in use, so it could not be changed" in errors
