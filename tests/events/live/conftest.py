"""Readers of the live feed."""

from trackers.events.live import watch as watching
from trackers.events.live.read import Wanted, first_read, newest_place, read_on
from tweetwatch.database import cursor


def watch(*topics):
    return Wanted(frozenset(watching.watch(topics).values()))


def run(statement):
    with cursor() as db:
        return db.execute(statement, prepare=False)


class Reader:
    """It keeps where it stands; `heard` are the addresses of what it was told, by their numbers."""

    def __init__(self, *topics, after=None):
        self.wanted = watch(*topics)
        read = first_read(after)
        self.at, self.gaps, self.heard = read.reached, [read.gap] if read.gap else [], []

    def read(self):
        newest = newest_place()
        while self.at.place <= newest:
            read = read_on(self.at, self.wanted)
            self.at = read.reached
            self.gaps += [read.gap] if read.gap else []
            self.heard += [int(told.url.rsplit("/", 1)[1]) for _, told in read.events]
        return self.heard
