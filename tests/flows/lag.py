"""How slow the machine is while a test runs: something that takes a moment, timed all along."""

import threading
import time

TICK = 0.1


class Lag:
    """A thread that sleeps for a tick and asks the database for nothing, again and again."""

    def __init__(self, connect):
        self._connect, self._ended = connect, threading.Event()
        self._thread = threading.Thread(target=self._run)
        # When each round began and ended, by the clock on the wall.
        self.rounds = []

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def _run(self):
        with self._connect() as database:
            began = time.time()
            while not self._ended.wait(TICK):
                database.execute("SELECT")
                ended = time.time()
                self.rounds.append((began, ended))
                began = ended

    def between(self, since, until):
        """The longest that a round took in this time, in seconds above what it should take."""
        took = [ended - began for began, ended in self.rounds if ended >= since and began <= until]
        return max(took, default=TICK) - TICK

    def mean(self):
        took = [ended - began for began, ended in self.rounds]
        return sum(took) / len(took) - TICK
