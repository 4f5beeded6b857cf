"""Behind PgBouncer in transaction mode, where every statement may meet another session."""

from __future__ import annotations

import shutil
import subprocess
import time

import pytest

from tests.chaos.ground import wait_until

# Debian puts it where only root's PATH leads.
PGBOUNCER = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/bin")
SESSIONS = 3
CONFIGURATION = """
[databases]
tweetwatch = host=127.0.0.1 port={postgres} user=tweetwatch
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {sessions}
max_client_conn = 200
; What the cluster's lookout asks for when it connects.
ignore_startup_parameters = extra_float_digits,options
"""


def free_port(relays):
    """A port that was free a moment ago."""
    relay = relays.make(("127.0.0.1", 9))
    relay.close()
    return relay.port


@pytest.fixture
def bouncer(small, tmp_path):
    """The address of a PgBouncer with fewer sessions than the cluster has connections."""
    postgres, port = small.relays.make(small.postgres.socket), free_port(small.relays)
    path = tmp_path / "pgbouncer.ini"
    path.write_text(CONFIGURATION.format(postgres=postgres.port, port=port, sessions=SESSIONS))
    log = (tmp_path / "pgbouncer.log").open("w")
    # It refuses to run as root.
    process = subprocess.Popen(
        [PGBOUNCER, "-u", "nobody", str(path)], stdout=log, stderr=log, stdin=subprocess.DEVNULL
    )
    wait_until(
        lambda: "listening on" in (tmp_path / "pgbouncer.log").read_text(),
        within=10,
        what="PgBouncer listens",
    )
    yield ("127.0.0.1", port)
    process.terminate()
    process.wait(10)
    log.close()


@pytest.mark.skipif(PGBOUNCER is None, reason="no PgBouncer here (apt install pgbouncer)")
def test_tweets_are_kept_fresh_through_pgbouncer_in_transaction_mode(small, bouncer):
    # PgBouncer before 1.21 (Debian 12 has 1.18) knows nothing of prepared statements.
    small.ground.environment["DATABASE_PREPARE"] = "false"
    small.start(database=bouncer)

    for _ in range(3):
        small.all_looked_up_after(time.time())

    sessions = small.postgres.value(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE usename = 'tweetwatch' AND datname = 'tweetwatch'"
    )
    assert sessions <= SESSIONS
    assert not small.has_logged("prepared statement")
    assert small.host.stop(30) == 0
    small.check_the_books(most_lost=0)
