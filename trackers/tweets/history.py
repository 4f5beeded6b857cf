"""A tweet's whole history: recent rows, packed arrays, and the newest sample on its own row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat
from operator import itemgetter
from typing import NamedTuple

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


def history(tweet_id: int, asked: RunRange = EVER, *, most: int | None = None) -> list[Run]:
    """The first `most` runs of one tweet in that time, in the order they were taken."""
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
    """The samples of several tweets, by tweet and time."""
    with cursor() as db:
        db.execute(_HISTORY, {"ids": list(tweet_ids)}, binary=True)
        stretches = db.fetchall()
    runs: list[Run] = []
    for tweet_id, *columns in stretches:
        runs.extend(map(Run._make, zip(repeat(tweet_id), *columns, strict=False)))
    runs.sort(key=itemgetter(0, 1))
    return runs
