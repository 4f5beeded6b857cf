"""A second session beside the test's own: its transaction begins, waits and ends when told."""

import threading
from contextlib import contextmanager
from queue import Queue

from django.db import connection, transaction

from tests.x import wait_until
from tweetwatch.database import cursor

WAITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE pid = ANY(%(pids)s::int[]) AND wait_event_type = 'Lock'
"""


class Session:
    """Runs what it is given in a thread, on a connection of its own."""

    def __init__(self):
        self.tasks, self.done = Queue(), Queue()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()
        self.pid = self.do(lambda: connection.connection.info.backend_pid)

    def work(self):
        connection.ensure_connection()
        while act := self.tasks.get():
            try:
                self.done.put((act(), None))
            except BaseException as fault:
                self.done.put((None, fault))
        connection.close()

    def start(self, act):
        self.tasks.put(act)

    def end(self):
        result, fault = self.done.get(timeout=60)
        if fault:
            raise fault
        return result

    def do(self, act):
        self.start(act)
        return self.end()

    def begin(self):
        self.transaction = transaction.atomic()
        self.do(self.transaction.__enter__)

    def commit(self):
        self.do(lambda: self.transaction.__exit__(None, None, None))

    def waits(self):
        """Until it waits for a lock that somebody has."""

        def is_waiting():
            with cursor() as db:
                return db.execute(WAITING, {"pids": [self.pid]}).fetchone()[0] == 1

        wait_until(is_waiting)


@contextmanager
def session():
    made = Session()
    try:
        yield made
    finally:
        made.tasks.put(None)
        made.thread.join(30)
