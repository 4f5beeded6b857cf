"""Memory, time and room: the server takes what fits, is waited for, and outlives a full disk."""

import os
import subprocess
from contextlib import suppress
from urllib.parse import parse_qs, unquote, urlsplit

import psycopg
import pytest

from tweetwatch.embedded.keeper import MAX_LOG_SIZE
from tweetwatch.embedded.postmaster import is_recovering
from tweetwatch.embedded.resources import MB, full_disk_sentence, memory, shared_buffers

from .conftest import REFUSED, fetch, fetch_or_none, poll

DISK_MB = 160
# Gives a word on the way, in a line of its own, before the URL.
IMPATIENT = """
import logging, sys
from pathlib import Path
from tweetwatch.embedded import database_url
logging.basicConfig(stream=sys.stdout, format="%(message)s")
print(database_url(Path(sys.argv[1]), within=1), flush=True)
sys.stdin.read()
"""
EMIT = "SELECT pg_logical_emit_message(true, 'fill', repeat('x', 1000000))"


def superuser(url):
    (host,) = parse_qs(urlsplit(url).query)["host"]
    return psycopg.connect(host=unquote(host), user="postgres", autocommit=True)


@pytest.mark.parametrize(
    ("machine", "buffers"), [(256 * MB, 64), (2048 * MB, 256), (1 << 33, 1024), (1 << 40, 1024)]
)
def test_the_buffers_are_an_eighth_of_the_memory_within_bounds(machine, buffers):
    assert shared_buffers(machine) == buffers


def test_the_server_uses_the_buffers_that_the_machine_allows(shared_server):
    [(bytes,)] = fetch(shared_server.url, "SELECT pg_size_bytes(current_setting('shared_buffers'))")

    assert bytes == shared_buffers(memory()) * MB


def test_oversized_logs_are_truncated_and_continued(server):
    url = server.user().url()
    logs = server.place.server_log, server.place.keeper_log
    for log in logs:
        with log.open("ab") as file:
            file.write(b"an old line\n" * (MAX_LOG_SIZE // 12 + 1))

    assert poll(lambda: all(log.stat().st_size < MAX_LOG_SIZE for log in logs))

    with pytest.raises(psycopg.errors.UndefinedTable):
        fetch(url, "SELECT * FROM nothing_of_that_name")
    assert poll(lambda: "nothing_of_that_name" in server.place.server_log.read_text())
    for log in logs:
        assert log.with_name(f"{log.name}.1").read_text().endswith("an old line\n")
        assert log.read_text().count("an old line") == 0


@pytest.mark.more
def test_a_recovery_is_awaited_past_the_time_limit_with_a_message(server):
    first = server.user()
    url = first.url()
    gate = server.directory / "gate"
    waiting = f"while ! test -e '{gate}'; do sleep 0.05; done; false"
    with superuser(url) as admin:
        admin.execute("CREATE TABLE kept AS SELECT 1 AS n")
        admin.execute(f"ALTER SYSTEM SET restore_command = $${waiting}$$")
    first.leave()
    assert poll(server.is_over)
    # From an archive, whose next piece comes when the test says so.
    signal = server.place.data / "recovery.signal"
    signal.touch()
    owner = server.place.data.stat()
    os.chown(signal, owner.st_uid, owner.st_gid)

    second = server.user(code=IMPATIENT)
    word = second.url()
    was_recovering = is_recovering(server.place.data)
    gate.touch()

    assert "is recovering from a crash" in word
    assert was_recovering
    assert poll(second.url) == url
    assert fetch_or_none(url, "SELECT count(*) FROM pg_tables WHERE tablename = 'kept'") == [(0,)]


@pytest.fixture
def small_disk(tmp_path, server):
    directory = tmp_path / "small"
    directory.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=755", "tmpfs", str(directory)]
    mounted = subprocess.run(mount, capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    server.__init__(directory / "pg")
    yield directory
    server.close()
    subprocess.run(["umount", "-l", str(directory)], check=True)


def fill(directory):
    """Take every byte that is left; the path of what took them."""
    path = directory / "filler"
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return path


def store_until_it_fails(connection):
    """How many rows were stored, each with much to write besides."""
    for number in range(200):
        try:
            connection.execute(EMIT)
            connection.execute("INSERT INTO kept VALUES (%s)", [number])
        except psycopg.OperationalError:
            return number
    pytest.fail("there was always room")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_full_disk_is_reported_loses_nothing_and_ends_when_there_is_room(server, small_disk):
    url = server.user().url()
    with psycopg.connect(url, autocommit=True) as connection:
        # The page that the others fit into, too.
        connection.execute("CREATE TABLE kept AS SELECT -1 AS n")
        filler = fill(small_disk)
        stored = 1 + store_until_it_fails(connection)
    # The log of changes found no room, so that the whole server is down.
    assert poll(lambda: fetch_or_none(url, "SELECT 1") is None)
    output = server.user(code=REFUSED).url()
    filler.unlink()

    rows = poll(lambda: fetch_or_none(url, "SELECT count(*) FROM kept"))

    assert f"The disk of {server.directory} is full" in output
    assert "continues by itself once there is room again" in output
    assert rows is not None
    assert stored <= rows[0][0] <= stored + 1
    assert full_disk_sentence(server.directory) == ""
    fetch(url, "INSERT INTO kept VALUES (0) RETURNING n")
