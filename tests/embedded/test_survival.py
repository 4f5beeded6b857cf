"""Killed postmasters and keepers, and what they leave behind."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import psutil
import psycopg
import pytest

from tweetwatch.embedded import EmbeddedPostgresError, database_url
from tweetwatch.embedded.place import Place

from .conftest import fetch, fetch_or_none, has_ended, poll


def commit_rows(url):
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n")


def test_a_killed_postmaster_restarts_with_its_rows_during_a_query(server):
    url = server.user().url()
    commit_rows(url)
    postmaster = server.postmaster()
    # A backend that computes does not notice by itself that its postmaster died.
    busy = psycopg.connect(url, autocommit=True)
    busy.pgconn.send_query(b"SELECT sum(sqrt(n)) FROM generate_series(1, 10000000000) AS n")

    postmaster.kill()
    rows = poll(lambda: fetch_or_none(url, "SELECT count(*) FROM kept"), seconds=30)

    assert rows == [(1000,)], server.place.keeper_log.read_text()
    assert server.postmaster() != postmaster
    busy.close()


@pytest.mark.more
def test_after_both_postmaster_and_keeper_were_killed_a_new_user_starts_them(server):
    url = server.user().url()
    commit_rows(url)
    os.kill(server.keeper(), signal.SIGKILL)
    server.postmaster().kill()

    again = server.user().url()

    assert again == url
    assert fetch(again, "SELECT count(*) FROM kept") == [(1000,)]
    assert server.keeper()


CONTAINER = ("unshare", "--pid", "--ipc", "--fork", "--kill-child", "--mount-proc")


def test_a_keeper_in_another_container_starts_no_second_server(server):
    if subprocess.run([*CONTAINER, "true"], capture_output=True).returncode:
        pytest.skip("no namespace of processes can be made here")
    url = server.user().url()
    commit_rows(url)
    postmaster = server.postmaster()
    os.kill(server.keeper(), signal.SIGKILL)
    assert poll(lambda: server.keeper() is None)

    elsewhere = server.user(through=CONTAINER)

    assert elsewhere.url() == url
    log = server.place.keeper_log
    assert poll(lambda: "such as in another container" in log.read_text()), log.read_text()
    assert server.postmaster() == postmaster
    assert fetch(url, "SELECT count(*) FROM kept") == [(1000,)]
    elsewhere.die()
    # A keeper that sees the server adopts it, and ends it with the test.
    assert server.user().url() == url
    assert poll(server.keeper)


def test_a_new_keeper_adopts_the_running_server_and_ends_it(server):
    first = server.user()
    first.url()
    postmaster = server.postmaster()
    os.kill(server.keeper(), signal.SIGKILL)
    assert poll(lambda: server.keeper() is None)

    second = server.user()
    second.url()
    assert server.postmaster() == postmaster
    first.leave()
    second.leave()

    assert poll(lambda: has_ended(postmaster))


@pytest.fixture
def program(tmp_path):
    """Starts a program under the server's account that is called postgres but isn't ours."""
    started = []

    def start(seconds, *, account):
        path = tmp_path / "postgres"
        path.symlink_to(shutil.which("sleep"))
        started.append(subprocess.Popen([path, seconds], user=account))
        return started[0].pid

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("seconds", "status"),
    [
        pytest.param("60", psutil.STATUS_SLEEPING, id="another program"),
        pytest.param("0", psutil.STATUS_ZOMBIE, id="a zombie"),
    ],
)
def test_pid_files_that_do_not_name_our_postmaster_are_stale(server, program, seconds, status):
    first = server.user()
    commit_rows(first.url())
    left = {
        name: (server.place.data / name).read_text()
        for name in ("postmaster.pid", ".s.PGSQL.5432.lock")
    }
    owner = (server.place.data / "postmaster.pid").stat()
    dead = str(server.postmaster().pid)
    first.leave()
    assert poll(server.is_over)
    pid = program(seconds, account=owner.st_uid)
    assert poll(lambda: psutil.Process(pid).status() == status)
    for name, text in left.items():
        path = server.place.data / name
        path.write_text(text.replace(dead, str(pid), 1))
        os.chown(path, owner.st_uid, owner.st_gid)
    # What a handle of the package, killed once, leaves.
    (server.place.data / ".handle_pids.json").write_text(f"[{os.getpid()}]")

    second = server.user()

    assert fetch(second.url(), "SELECT count(*) FROM kept") == [(1000,)]
    postmaster = server.postmaster()
    second.leave()
    assert poll(lambda: has_ended(postmaster))


@pytest.mark.more
def test_a_removed_directory_ends_its_server(server):
    server.user().url()
    postmaster = server.postmaster()

    shutil.rmtree(server.directory)

    assert poll(lambda: has_ended(postmaster))


def test_a_terminated_keeper_stops_the_server(server):
    server.user().url()
    postmaster = server.postmaster()

    os.kill(server.keeper(), signal.SIGTERM)

    assert poll(lambda: has_ended(postmaster))


def test_an_unusable_directory_is_refused_with_what_to_do(tmp_path):
    place = Place.at(tmp_path)
    place.data.mkdir()
    (place.data / "thesis.txt").write_text("not a cluster")

    with pytest.raises(EmbeddedPostgresError) as failed:
        database_url(tmp_path, within=5)

    assert str(place.keeper_log) in str(failed.value)
    assert "set DATABASE_URL" in str(failed.value)
    assert "move it away" in str(failed.value)
    assert (place.data / "thesis.txt").read_text() == "not a cluster"


def test_a_file_in_place_of_the_directory_is_refused_by_name(tmp_path):
    path = Path(tmp_path / "file")
    path.write_text("")

    with pytest.raises(EmbeddedPostgresError, match="can't be used"):
        database_url(path)


def test_a_comma_in_the_path_is_refused_at_once(tmp_path):
    with pytest.raises(EmbeddedPostgresError, match="comma"):
        database_url(tmp_path / "a,b")
