"""Clusters run as real processes, each test's on a database of its own."""

import multiprocessing
import os
import subprocess
import sys
from contextlib import contextmanager
from itertools import count
from urllib.parse import quote, urlencode

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from tests.jobs.cluster.running import PROJECT, Running

numbers = count()
fork = multiprocessing.get_context("fork")


def url_of(database):
    """Another database on the server that the settings name."""
    params = connection.get_connection_params()
    who = f"{quote(params.get('user', ''))}:{quote(params.get('password', ''))}@"
    host = params.get("host", "")
    if host.startswith("/") or not host:
        return f"postgresql://{who}/{database}?{urlencode({'host': host})}"
    return f"postgresql://{who}{host}:{params.get('port', 5432)}/{database}"


@contextmanager
def made(template="template1"):
    """The name of a new database, there for the length of the block."""
    name = f"tweetwatch_cluster_{os.getpid()}_{next(numbers)}"
    made, used = sql.Identifier(name), sql.Identifier(template)
    with psycopg.connect(url_of("postgres"), autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(made, used))
        try:
            yield name
        finally:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(made))


@pytest.fixture(scope="session")
def migrated():
    with made() as name:
        command = [sys.executable, "manage.py", "migrate", "--skip-checks", "--verbosity", "0"]
        environment = {**os.environ, "DATABASE_URL": url_of(name)}
        subprocess.run(command, cwd=PROJECT, env=environment, check=True)
        yield name


@pytest.fixture
def url(migrated):
    with made(migrated) as name:
        yield url_of(name)


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


@pytest.fixture(scope="module")
def cluster(migrated, tmp_path_factory):
    """One of two workers for all tests that leave it at work."""
    with made(migrated) as name:
        cluster = Running(url_of(name), tmp_path_factory.mktemp("cluster")).wait_until_up()
        yield cluster
        cluster.close()


@pytest.fixture
def start():
    processes = []

    def start(target, *args):
        process = fork.Process(target=target, args=args, daemon=True)
        process.start()
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.join()
