"""A tweet's whole history: recent rows, packed arrays, the newest sample on its own row, and old
months in the archive."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat
from operator import itemgetter
from typing import NamedTuple

from trackers.tweets.archive.read import Asked, archived
from trackers.tweets.archive.tables import Row
from tweetwatch.database import cursor
from tweetwatch.statements import statement


class Run(NamedTuple):
    """The same metrics, measured `measurements` times from `taken_at` until `measured_until`.

    A tuple, since a curve has ten thousand of them: creating a dataclass takes four times as long.
    """

    tweet_id: int
    taken_at: datetime
    measured_until: datetime
    measurements: int
    retweets: int | None
    replies: int | None
    likes: int | None
    quotes: int | None
    bookmarks: int | None
    views: int | None

    @property
    def counts(self) -> tuple[int | None, ...]:
        """The counts in the order of METRICS."""
        return (
            self.retweets, self.replies, self.likes, self.quotes, self.bookmarks, self.views,
        )  # fmt: skip


class Runs(list[Run]):
    """A tweet's, and what is not among them, if something could not be read."""

    lacking: str = ""


EVERY_RUN = statement(__file__, "every_run")

_HISTORY = statement(__file__, "history")
_RUNS_OF_ONE = f"""
    SELECT * FROM ({EVERY_RUN}) AS run
    WHERE tweet_id = %(id)s AND measured_until >= %(since)s::timestamptz
      AND taken_at < %(until)s::timestamptz AND taken_at > %(after)s::timestamptz
    ORDER BY taken_at LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class RunRange:
    """Runs within a time, and only after one of them."""

    since: datetime | None = None  # they end then or later
    until: datetime | None = None  # they begin before
    after: datetime | None = None


EVER = RunRange()


def history(tweet_id: int, asked: RunRange = EVER, *, most: int | None = None) -> Runs:
    """The first `most` runs of one tweet in that time, in the order they were taken.

    The database is read first, and then the archive: what is moved in between is in both, and taken
    once.
    """
    here = _history_here(tweet_id, asked, most)
    since = max(filter(None, (asked.since, asked.after)), default=None)
    found = archived([Asked(tweet_id, since, asked.until)])
    runs = Runs(_with_archived(here, found.rows(), asked)[:most] if found.tables else here)
    runs.lacking = found.lacking
    return runs


def _with_archived(here: list[Run], rows: Iterable[Row], asked: RunRange) -> list[Run]:
    by_time = {run.taken_at: run for run in map(Run._make, rows) if _is_asked(run, asked)}
    by_time.update((run.taken_at, run) for run in here)
    return sorted(by_time.values(), key=itemgetter(1))


def _is_asked(run: Run, asked: RunRange) -> bool:
    """As the statement above."""
    return (
        (asked.since is None or run.measured_until >= asked.since)
        and (asked.until is None or run.taken_at < asked.until)
        and (asked.after is None or run.taken_at > asked.after)
    )


def _history_here(tweet_id: int, asked: RunRange, most: int | None) -> list[Run]:
    if asked == EVER and most is None:
        # Ten thousand take 0.7 of the time as arrays.
        return histories([tweet_id])
    params = {
        "id": tweet_id,
        "since": asked.since or "-infinity",
        "until": asked.until or "infinity",
        "after": asked.after or "-infinity",
        "most": most,
    }
    with cursor() as db:
        db.execute(_RUNS_OF_ONE, params, binary=True)
        return list(map(Run._make, db.fetchall()))


def histories(tweet_ids: Iterable[int]) -> list[Run]:
    """The samples of several tweets, by tweet and time, but for those in the archive."""
    with cursor() as db:
        db.execute(_HISTORY, {"ids": list(tweet_ids)}, binary=True)
        stretches = db.fetchall()
    runs: list[Run] = []
    for tweet_id, *columns in stretches:
        runs.extend(map(Run._make, zip(repeat(tweet_id), *columns, strict=False)))
    runs.sort(key=itemgetter(0, 1))
    return runs
