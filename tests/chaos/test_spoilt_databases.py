"""A read-only database and a full one: a clear message, nothing lost, and work that resumes."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import contextmanager, suppress

import pytest

from tests.chaos.conftest import WORKERS
from tests.chaos.ground import wait_until

# A full disk and what befalls databases are tried in tests/embedded and by each run of chaos, too.
pytestmark = pytest.mark.more

IN_HAND = WORKERS * 100
SPOILT_FOR = 6.0
TABLESPACE_MB = 96


@contextmanager
def read_only_at_once(small):
    """Of the whole server: each session's next transaction can write no more."""
    with small.postgres.connect() as admin:
        admin.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        admin.execute("SELECT pg_reload_conf()")
    yield
    with small.postgres.connect() as admin:
        admin.execute("ALTER SYSTEM RESET default_transaction_read_only")
        admin.execute("SELECT pg_reload_conf()")


@contextmanager
def read_only_for_new_sessions(small):
    """Of the database, and the sessions broke: what connected meanwhile stays read-only."""
    with small.postgres.connect() as admin:
        admin.execute("ALTER DATABASE tweetwatch SET default_transaction_read_only = on")
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tweetwatch'"
        )
    yield
    with small.postgres.connect() as admin:
        admin.execute("SET default_transaction_read_only = off")
        admin.execute("ALTER DATABASE tweetwatch RESET default_transaction_read_only")


@pytest.mark.parametrize("read_only", [read_only_at_once, read_only_for_new_sessions])
def test_a_read_only_database_is_told_of_and_work_resumes_when_it_can_be_written(small, read_only):
    small.start()

    with read_only(small):
        time.sleep(SPOILT_FOR)
        wait_until(
            lambda: small.has_logged("trackers.jobs.broker", "read-only"),
            within=10,
            what="the log says that the database is read-only",
        )
    small.all_looked_up_after(time.time())

    assert small.host.stop(30) == 0
    small.check_the_books(most_lost=2 * IN_HAND)


@contextmanager
def tablespace(small, directory):
    """The database moves to a small file system of its own; gives the directory."""
    directory.mkdir()
    options = f"size={TABLESPACE_MB}m"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(directory)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        owner = small.postgres.place.data.stat()
        os.chown(directory, owner.st_uid, owner.st_gid)
        with small.postgres.connect(to="postgres") as admin:
            admin.execute(f"CREATE TABLESPACE small LOCATION '{directory}'")
            admin.execute("ALTER DATABASE tweetwatch SET TABLESPACE small")
        yield directory
    finally:
        small.postgres.leave()
        subprocess.run(["umount", "-l", str(directory)], check=True)


def fill(directory):
    """Take every byte that is left; the path of what took them."""
    path = directory / "filler"
    with suppress(OSError), path.open("wb") as file:
        while True:
            file.write(bytes(1 << 20))
            file.flush()
    return path


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_full_database_is_told_of_and_work_resumes_when_there_is_room(small, tmp_path):
    with tablespace(small, tmp_path / "small") as directory:
        small.start()

        filler = fill(directory)
        wait_until(
            # Whoever is the first to need another page: a claim finds room in its own for long.
            lambda: small.has_logged("No space left on device"),
            within=60,
            what="the log says that the disk is full",
        )
        time.sleep(SPOILT_FOR)
        filler.unlink()
        small.all_looked_up_after(time.time())

        assert small.host.stop(30) == 0
        small.check_the_books(most_lost=2 * IN_HAND)
