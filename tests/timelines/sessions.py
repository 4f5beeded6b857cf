"""Other sessions of the database, each a thread that does what it is told, one thing at a time."""

import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from django.db import connection, transaction

# Seconds; a machine may be busy.
PATIENCE = 60
WAITS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND wait_event_type = 'Lock' AND state = 'active' AND (%s::int IS NULL OR pid = %s)"
)


class Session:
    def __init__(self):
        self.pool = ThreadPoolExecutor(1)
        self.pid = self.do(self.own_pid)

    @staticmethod
    def own_pid():
        connection.ensure_connection()
        return connection.connection.info.backend_pid

    def start(self, act, *given, **how) -> Future:
        return self.pool.submit(act, *given, **how)

    def do(self, act, *given, **how):
        return self.start(act, *given, **how).result(PATIENCE)

    @contextmanager
    def in_transaction(self):
        """What it does meanwhile is committed at the end."""
        self.do(self.begin)
        try:
            yield
        finally:
            self.do(self.commit)

    def begin(self):
        self.atomic = transaction.atomic()
        self.atomic.__enter__()

    def commit(self):
        self.atomic.__exit__(None, None, None)

    def close(self):
        self.do(lambda: connection.close())
        self.pool.shutdown()


@contextmanager
def sessions(many):
    opened = [Session() for _ in range(many)]
    try:
        yield opened
    finally:
        for session in opened:
            session.close()


def wait_for(fact, *, what):
    end = time.monotonic() + PATIENCE
    while not fact():
        if time.monotonic() > end:
            raise AssertionError(f"after {PATIENCE} s still not: {what}")
        time.sleep(0.005)


def waits_for_a_lock(pid=None):
    """Whether this session does, or one of the database."""
    with connection.cursor() as db:
        db.execute(WAITS, [pid, pid])
        return db.fetchone()[0]


def wait_until_it_waits(session, future):
    """It stands before a lock that another session holds."""

    def it_waits():
        assert not future.done(), "it did not have to wait"
        return waits_for_a_lock(session.pid)

    wait_for(it_waits, what="it waits for a lock")
