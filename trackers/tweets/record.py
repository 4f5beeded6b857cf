"""Samples are written here and nowhere else, whoever paid for the measurement.

measured (figures as X gave them) ─> the tweet's newest sample ─ when it changes ─> a closed one
Unchanged figures only lengthen the newest sample. After a hole, a time in which nobody looked
for more than twice the interval, the same figures begin a sample anew: no run hides a hole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from trackers.xapi.answers import Figures
from tweetwatch.database import array, cursor, plain


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of one tweet at one time.

    `hole_after`: when the last measurement is longer ago, the run ends there; None: always.
    """

    tweet_id: int
    at: datetime
    figures: Figures
    hole_after: timedelta | None


class Change(NamedTuple):
    """A tweet whose figures differ from the last ones. `before` is None at its first sample."""

    tweet_id: int
    at: datetime
    before: Figures | None
    after: Figures


# A chain of CTEs that stands behind one called `measured` (tweet_id, at, hole_after and the six
# figures). The caller's `measured` decides which rows may be written.
# Lock: the tweets' rows, in the order of ids, in which `measured` comes; after the job's row where
# there is one.
# FOR UPDATE reads the row as it is once its lock is ours, so that two measurers of one tweet
# (the updater and a poll) close each run once.
# LATERAL: by the primary key whatever the statistics say (see SAVE in updater).
# A measurement older than the newest sample's end (it was long on its way) is kept as a closed
# sample of its own.
RECORD = """
    before AS MATERIALIZED (
        SELECT t.id, m.at, t.taken_at, t.measured_until, t.measurements,
               t.retweets, t.replies, t.likes, t.quotes, t.bookmarks, t.impressions,
               m.retweets AS new_retweets, m.replies AS new_replies, m.likes AS new_likes,
               m.quotes AS new_quotes, m.bookmarks AS new_bookmarks,
               m.impressions AS new_impressions,
               t.measurements > 0 AND m.at < t.measured_until AS belated,
               t.measurements = 0
               OR (t.retweets, t.replies, t.likes, t.quotes, t.bookmarks, t.impressions)
                  IS DISTINCT FROM
                  (m.retweets, m.replies, m.likes, m.quotes, m.bookmarks, m.impressions) AS changed,
               m.hole_after IS NULL OR m.at > t.measured_until + m.hole_after AS hole,
               t.created_at IS NULL OR t.gone_at IS NOT NULL AS undescribed
        FROM measured m CROSS JOIN LATERAL (
            SELECT * FROM trackers_tweet WHERE id = m.tweet_id FOR UPDATE
        ) t
    ),
    closed AS (
        INSERT INTO trackers_sample (tweet_id, taken_at, measured_until, measurements,
                                     retweets, replies, likes, quotes, bookmarks, impressions)
        SELECT id, taken_at, measured_until, measurements,
               retweets, replies, likes, quotes, bookmarks, impressions
        FROM before WHERE (changed OR hole) AND measurements > 0 AND NOT belated
        UNION ALL
        SELECT id, at, at, 1, new_retweets, new_replies, new_likes, new_quotes, new_bookmarks,
               new_impressions
        FROM before WHERE belated
    ),
    newest AS (
        UPDATE trackers_tweet t
        SET taken_at = CASE WHEN b.changed OR b.hole THEN b.at ELSE b.taken_at END,
            measured_until = b.at,
            measurements = CASE WHEN b.changed OR b.hole THEN 1 ELSE b.measurements + 1 END,
            retweets = b.new_retweets, replies = b.new_replies, likes = b.new_likes,
            quotes = b.new_quotes, bookmarks = b.new_bookmarks, impressions = b.new_impressions,
            missing_since = NULL, missing_because = '', gone_at = NULL,
            -- Who paid for the measurement, and on which UTC day; null when nobody had to.
            paid_on = coalesce(%(paid_on)s::date, t.paid_on),
            paid_by = coalesce(%(paid_by)s::int, t.paid_by)
        FROM before b
        WHERE t.id = b.id AND NOT b.belated
    )
"""

# `measured` for those who have no job to fence by: a poll, an import.
MEASURED = """
    WITH measured AS MATERIALIZED (
        SELECT * FROM unnest(
            %(ids)s::bigint[], %(at)s::timestamptz[], %(hole_after)s::interval[],
            %(retweets)s::int[], %(replies)s::int[], %(likes)s::int[], %(quotes)s::int[],
            %(bookmarks)s::int[], %(impressions)s::bigint[]
        ) AS m(tweet_id, at, hole_after, retweets, replies, likes, quotes, bookmarks, impressions)
    ),
"""

CHANGED = """
    SELECT b.id, b.at, b.measurements > 0,
           b.retweets, b.replies, b.likes, b.quotes, b.bookmarks, b.impressions,
           b.new_retweets, b.new_replies, b.new_likes, b.new_quotes, b.new_bookmarks,
           b.new_impressions
    FROM before b WHERE b.changed AND NOT b.belated
"""

RECORD_MEASURED = plain(MEASURED + RECORD + CHANGED)


def record(
    measured: Sequence[Measured], *, paid_on: date | None = None, paid_by: int | None = None
) -> list[Change]:
    """Write the measurements of tracked tweets, at most one of each tweet; what changed by them.

    `paid_by` is the project that X billed for them on the UTC day `paid_on`, if any.
    """
    ordered = sorted(measured, key=lambda one: one.tweet_id)
    with cursor() as db:
        db.execute(RECORD_MEASURED, {**columns(ordered), "paid_on": paid_on, "paid_by": paid_by})
        return [change(row[0], row[1], row[2], row[3:]) for row in db]


def columns(measured: Sequence[Measured]) -> dict[str, Any]:
    """The arrays that the SQL unnests, parallel to `measured`."""
    retweets, replies, likes, quotes, bookmarks, impressions = (
        zip(*(one.figures for one in measured), strict=True) if measured else [()] * 6
    )
    return {
        "ids": array(one.tweet_id for one in measured),
        "at": [one.at for one in measured],
        "hole_after": [one.hole_after for one in measured],
        "retweets": array(retweets),
        "replies": array(replies),
        "likes": array(likes),
        "quotes": array(quotes),
        "bookmarks": array(bookmarks),
        "impressions": array(impressions),
    }


def change(id: int, at: datetime, measured_before: bool, counts: Sequence[Any]) -> Change:
    """`counts`: the six figures before, and the six after."""
    before = Figures._make(counts[:6]) if measured_before else None
    return Change(id, at, before, Figures._make(counts[6:]))
