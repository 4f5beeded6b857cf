"""Clusters run as real processes, each test's on a database of its own."""

import multiprocessing

import pytest

from tests.databases import OURS, drop, url_of
from tests.jobs.cluster.running import Running

fork = multiprocessing.get_context("fork")


@pytest.fixture
def run(fresh_database, tmp_path):
    """Start clusters; they are ended with the test."""
    started = []

    def run(**over):
        started.append(Running(fresh_database, tmp_path, **over))
        return started[-1]

    yield run
    for cluster in started:
        cluster.close()


@pytest.fixture(scope="module")
def cluster(django_db_setup, django_db_blocker, original, tmp_path_factory):
    """One of two workers for all tests that leave it at work."""
    name = f"{OURS}_cluster"
    with django_db_blocker.unblock():
        original.clone(name)
        url = url_of(name)
    cluster = Running(url, tmp_path_factory.mktemp("cluster")).wait_until_up()
    yield cluster
    cluster.close()
    with django_db_blocker.unblock():
        drop(name)


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
