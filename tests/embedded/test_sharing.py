"""One server for all users, from the first to the last."""

import fcntl
import os
import signal
from pathlib import Path

import environ
import pytest

from tweetwatch.embedded.locks import open_lock, try_exclusive, try_shared
from tweetwatch.embedded.status import describe

from .conftest import fetch, fetch_or_none, has_ended, poll

FORK = """
import os, sys, time
from pathlib import Path
from tweetwatch.embedded import database_url
print(database_url(Path(sys.argv[1])), flush=True)
child = os.fork()
if child:
    print(child, flush=True)
    os._exit(0)
sys.stdin.read()
"""
ASK_TWICE = """
import os, sys
from pathlib import Path
from tweetwatch.embedded import database_url
def held():
    links = [os.path.join("/proc/self/fd", fd) for fd in os.listdir("/proc/self/fd")]
    return sum(os.path.realpath(link).endswith("users.lock") for link in links)
database_url(Path(sys.argv[1]))
if os.fork() == 0:
    database_url(Path(sys.argv[1]))
    print(held(), flush=True)
    os._exit(0)
os.wait()
database_url(Path(sys.argv[1]))
print(held(), flush=True)
"""


def test_the_url_reaches_the_database(shared_server):
    assert fetch(shared_server.url, "SELECT current_database(), current_user") == [
        ("tweetwatch", "tweetwatch")
    ]


def test_django_environ_reads_the_url(shared_server):
    config = environ.Env.db_url_config(shared_server.url)

    assert (config["ENGINE"], config["NAME"], config["USER"]) == (
        "django.db.backends.postgresql",
        "tweetwatch",
        "tweetwatch",
    )
    assert config["OPTIONS"] == {"host": str(shared_server.place.data)}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_connections", "200"),
        ("max_wal_size", "4GB"),
        ("checkpoint_timeout", "30min"),
        ("autovacuum_naptime", "10s"),
        ("autovacuum_vacuum_cost_limit", "2000"),
        ("random_page_cost", "1.1"),
        ("TimeZone", "UTC"),
        ("log_min_messages", "warning"),
        ("synchronous_commit", "on"),
        ("listen_addresses", ""),
    ],
)
def test_the_server_has_our_settings(shared_server, name, value):
    assert fetch(shared_server.url, f"SHOW {name}") == [(value,)]


def test_neither_keeper_nor_server_gets_the_secrets_of_a_user(shared_server):
    for pid in (shared_server.keeper(), shared_server.postmaster().pid):
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        assert b"LC_ALL=C.UTF-8" in environment
        assert b"SECRET_KEY" not in environment


def test_two_processes_share_one_server(shared_server):
    postmaster = shared_server.postmaster()

    second = shared_server.user()

    assert second.url() == shared_server.url
    assert shared_server.postmaster() == postmaster


def test_a_process_and_its_fork_hold_the_lock_once(shared_server):
    asking = shared_server.user(code=ASK_TWICE)

    assert [asking.url(), asking.url()] == ["1", "1"]


def test_status_names_the_postmaster_the_keeper_and_the_users(shared_server):
    running, sentence = describe(shared_server.place)

    assert running
    assert f"postmaster {shared_server.postmaster().pid};" in sentence
    assert f"keeper {shared_server.keeper()};" in sentence
    assert str(shared_server.users[0].process.pid) in sentence.rpartition("users: ")[2].split()


def test_the_server_ends_with_its_last_user(server):
    first, second = server.user(), server.user()
    first.url()
    url = second.url()
    postmaster = server.postmaster()

    first.leave()
    assert fetch(url, "SELECT 1") == [(1,)]
    second.leave()

    assert poll(lambda: has_ended(postmaster))
    assert poll(server.is_over)
    assert "was not properly shut down" not in server.place.server_log.read_text()


def test_a_killed_user_is_not_waited_for(server):
    killed, other = server.user(), server.user()
    killed.url()
    other.url()
    postmaster = server.postmaster()

    killed.die()
    other.leave()

    assert poll(lambda: has_ended(postmaster))


@pytest.mark.more
def test_a_forked_child_keeps_the_server_after_its_parent(server):
    parent = server.user(code=FORK)
    url = parent.url()
    child = int(parent.url())
    parent.process.wait(10)
    lock = open_lock(server.place.users_lock)

    try:
        # The keeper's own question: has everybody left?
        assert not try_exclusive(lock)
        assert str(child) in describe(server.place)[1].rpartition("users: ")[2].split()
        assert fetch(url, "SELECT 1") == [(1,)]
    finally:
        os.close(lock)
        os.kill(child, signal.SIGKILL)


def test_six_processes_at_once_on_a_fresh_directory_get_one_server(server):
    users = [server.user() for _ in range(6)]

    urls = {user.url() for user in users}

    assert len(urls) == 1
    assert server.place.keeper_log.read_text().count("ready: postmaster") == 1


def test_a_user_arriving_while_the_server_stops_gets_a_new_server(server):
    first = server.user()
    first.url()
    stopping = server.postmaster()
    stopping.suspend()  # The stop takes as long as this test needs.
    first.leave()
    lock = open_lock(server.place.users_lock)
    assert poll(lambda: not _is_shareable(lock))
    os.close(lock)

    second = server.user()
    assert poll(lambda: str(second.process.pid) in describe(server.place)[1])
    assert has_ended(stopping) is False
    stopping.resume()
    url = second.url()

    assert server.postmaster() != stopping
    assert fetch(url, "SELECT 1") == [(1,)]


def _is_shareable(lock):
    shared = try_shared(lock)
    fcntl.flock(lock, fcntl.LOCK_UN)
    return shared


@pytest.mark.more
def test_a_deep_directory_works_survives_a_killed_postmaster_and_leaves_no_socket_behind(
    tmp_path, server
):
    server.__init__(tmp_path / "A deep 100% 'odd' & long name" / ("d" * 90) / "pg")

    url = server.user().url()
    socket_dir = Path(environ.Env.db_url_config(url)["OPTIONS"]["host"])
    assert socket_dir != server.place.data
    assert fetch(url, "SELECT 1") == [(1,)]
    server.postmaster().kill()
    assert poll(lambda: fetch_or_none(url, "SELECT 1"), seconds=30) == [(1,)]
    server.users[0].leave()

    assert poll(server.is_over)
    assert poll(lambda: not socket_dir.exists())
