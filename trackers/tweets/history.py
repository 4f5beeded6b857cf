"""A tweet's whole history: recent rows, packed arrays, and the newest sample on its own row."""

from __future__ import annotations

from collections.abc import Iterable
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


def history(tweet_id: int) -> list[Run]:
    """The samples of one tweet in the order they were taken."""
    return histories([tweet_id])


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
