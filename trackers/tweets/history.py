"""A tweet's whole history: recent rows, packed arrays, and the newest sample on its own row."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import repeat
from operator import itemgetter
from typing import NamedTuple

from tweetwatch.database import cursor


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
    impressions: int | None

    @property
    def counts(self) -> tuple[int | None, ...]:
        """The counts in the order of METRICS."""
        return (
            self.retweets, self.replies, self.likes, self.quotes, self.bookmarks, self.impressions,
        )  # fmt: skip


# All samples of all tweets, a row each; a condition on tweet_id is pushed down into each branch.
EVERY_RUN = """
    SELECT tweet_id, taken_at, measured_until, measurements,
           retweets, replies, likes, quotes, bookmarks, impressions
    FROM trackers_sample
    UNION ALL
    SELECT p.tweet_id, run.taken_at, run.measured_until, run.measurements,
           run.retweets, run.replies, run.likes, run.quotes, run.bookmarks, run.impressions
    FROM trackers_packedsamples p
    CROSS JOIN LATERAL unnest(p.taken_at, p.measured_until, p.measurements, p.retweets,
                              p.replies, p.likes, p.quotes, p.bookmarks, p.impressions)
        AS run(taken_at, measured_until, measurements, retweets, replies, likes, quotes, bookmarks,
               impressions)
    UNION ALL
    SELECT id, taken_at, measured_until, measurements,
           retweets, replies, likes, quotes, bookmarks, impressions
    FROM trackers_tweet WHERE measurements > 0
"""

# Arrays: the packed ones as they are, and one more for what is not packed yet. Ten thousand samples
# take half the time of as many rows.
HISTORY = """
    SELECT tweet_id, taken_at, measured_until, measurements,
           retweets, replies, likes, quotes, bookmarks, impressions
    FROM trackers_packedsamples WHERE tweet_id = ANY(%(ids)s::bigint[])
    UNION ALL
    SELECT tweet_id, array_agg(taken_at), array_agg(measured_until), array_agg(measurements),
           array_agg(retweets), array_agg(replies), array_agg(likes),
           array_agg(quotes), array_agg(bookmarks), array_agg(impressions)
    FROM (
        SELECT tweet_id, taken_at, measured_until, measurements,
               retweets, replies, likes, quotes, bookmarks, impressions
        FROM trackers_sample WHERE tweet_id = ANY(%(ids)s::bigint[])
        UNION ALL
        SELECT id, taken_at, measured_until, measurements,
               retweets, replies, likes, quotes, bookmarks, impressions
        FROM trackers_tweet WHERE id = ANY(%(ids)s::bigint[]) AND measurements > 0
    ) AS recent
    GROUP BY tweet_id
"""


def history(tweet_id: int) -> list[Run]:
    """The samples of one tweet in the order they were taken."""
    return histories([tweet_id])


def histories(tweet_ids: Iterable[int]) -> list[Run]:
    """The samples of several tweets, by tweet and time."""
    with cursor() as db:
        db.execute(HISTORY, {"ids": list(tweet_ids)}, binary=True)
        stretches = db.fetchall()
    runs: list[Run] = []
    for tweet_id, *columns in stretches:
        runs.extend(map(Run._make, zip(repeat(tweet_id), *columns, strict=False)))
    runs.sort(key=itemgetter(0, 1))
    return runs
