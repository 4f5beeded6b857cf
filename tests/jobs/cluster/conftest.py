"""Clusters run as real processes on a database of their own, beside the one of pytest-django."""

from __future__ import annotations

import os
import subprocess
import sys
from urllib.parse import quote, urlencode

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from tests.jobs.cluster.running import PROJECT, Running


def url_of(database):
    """The server that the settings name, another database."""
    params = connection.get_connection_params()
    who = f"{quote(params.get('user', ''))}:{quote(params.get('password', ''))}@"
    host = params.get("host", "")
    if host.startswith("/") or not host:
        return f"postgresql://{who}/{database}?{urlencode({'host': host})}"
    return f"postgresql://{who}{host}:{params.get('port', 5432)}/{database}"


@pytest.fixture(scope="session")
def migrated():
    name = f"tweetwatch_cluster_{os.getpid()}"
    with psycopg.connect(url_of("postgres"), autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            subprocess.run(
                [sys.executable, "manage.py", "migrate", "--skip-checks", "--verbosity", "0"],
                cwd=PROJECT,
                env={**os.environ, "DATABASE_URL": url_of(name)},
                check=True,
            )
            yield url_of(name)
        finally:
            admin.execute(
                sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
            )


TABLES = "django_q_ormq, django_q_task, trackers_worker, trackers_tweetupdate"


@pytest.fixture
def url(migrated):
    """A database with nothing to do in it."""
    with psycopg.connect(migrated) as tidy:
        tidy.execute(f"TRUNCATE {TABLES}")
        tidy.execute(
            "UPDATE trackers_namespace SET paused = false, held_until = NULL,"
            " lease = '60 seconds', buffer_ttl = '2 seconds'"
        )
    return migrated


@pytest.fixture
def run(url, tmp_path):
    """Start clusters; they are ended with the test."""
    started = []

    def run(**over):
        started.append(Running(url, tmp_path, **over))
        return started[-1]

    yield run
    for cluster in started:
        cluster.close()
