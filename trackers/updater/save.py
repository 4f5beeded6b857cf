"""The one statement that writes a batch: metrics, samples, next checks, fenced by its lease."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from trackers.jobs.queue import Batch
from trackers.tweets.record import RECORD, Change, change
from trackers.updater.models import TweetUpdate
from trackers.updater.promote import Verdict
from tweetwatch.database import array, cursor, plain

# The fence is the lease on the job's row: what a rival claimed meanwhile, or a person rescheduled
# or took out, is not ours, and nothing at all is written for it.
# Locks: a job's row, then its tweet's (in RECORD), in the order of ids, as the answer has them;
# `held` takes the first before it is written, since an UPDATE and a DELETE have orders of their
# own, and a refresh of the same tweets would wait crosswise.
# LATERAL: each row is found by the primary key, whatever the statistics say. Once the queue was
# analyzed empty, a plain join was planned as a walk over the whole table for each key.
# ctid: a job's row stays where `held` locked it. A tweet's may have moved since the statement began
# and is found by its id.
SAVE = plain(
    f"""
    WITH answer AS MATERIALIZED (
        SELECT * FROM unnest(
            %(ids)s::bigint[], %(due_in)s::float8[], %(kind)s::text[], %(gone)s::bool[],
            %(hole_after)s::float8[],
            %(retweets)s::int[], %(replies)s::int[], %(likes)s::int[], %(quotes)s::int[],
            %(bookmarks)s::int[], %(impressions)s::bigint[]
        ) AS a(tweet_id, due_in, kind, gone, hole_after,
               retweets, replies, likes, quotes, bookmarks, impressions)
    ),
    held AS MATERIALIZED (
        SELECT a.*, job.place
        FROM answer a CROSS JOIN LATERAL (
            SELECT ctid AS place FROM {TweetUpdate._meta.db_table}
            WHERE key = a.tweet_id AND lease = %(lease)s FOR UPDATE
        ) job
    ),
    moved AS (
        UPDATE {TweetUpdate._meta.db_table} j
        SET due_at = now() + h.due_in * interval '1 second', lease = NULL, attempts = 0
        FROM held h WHERE j.ctid = h.place AND h.due_in IS NOT NULL
    ),
    over AS (
        DELETE FROM {TweetUpdate._meta.db_table} j USING held h
        WHERE j.ctid = h.place AND h.due_in IS NULL
    ),
    measured AS MATERIALIZED (
        SELECT h.tweet_id, %(at)s::timestamptz AS at,
               h.hole_after * interval '1 second' AS hole_after,
               h.retweets, h.replies, h.likes, h.quotes, h.bookmarks, h.impressions
        FROM held h WHERE h.kind = 'measured'
    ),
"""
    + RECORD
    + """,
    missing AS (
        UPDATE trackers_tweet t
        SET missing_since = coalesce(t.missing_since, %(at)s::timestamptz),
            -- What the users endpoint told is more than the tweets' endpoint ever says.
            missing_because = CASE
                WHEN a.kind = 'unauthorized' AND t.missing_because IN ('protected', 'suspended')
                THEN t.missing_because ELSE a.kind END,
            gone_at = CASE WHEN a.gone THEN coalesce(t.gone_at, %(at)s::timestamptz) END
        FROM held a
        WHERE t.id = a.tweet_id AND a.kind NOT IN ('measured', '')
    ),
    hushed AS (
        -- What X no longer shows we show no longer either.
        DELETE FROM trackers_tweettext
        WHERE tweet_id = ANY(ARRAY(SELECT tweet_id FROM held WHERE gone))
    )
    SELECT held.tweet_id, coalesce(b.undescribed, false),
           coalesce(b.changed AND NOT b.belated, false), b.measurements > 0,
           b.retweets, b.replies, b.likes, b.quotes, b.bookmarks, b.impressions,
           b.new_retweets, b.new_replies, b.new_likes, b.new_quotes, b.new_bookmarks,
           b.new_impressions
    FROM held LEFT JOIN before b ON b.id = held.tweet_id
"""
)


@dataclass(frozen=True, slots=True)
class Saved:
    """What one batch changed, for those who come after.

    `ours`: the tweets whose lease still stood; for the others nothing was written.
    """

    ours: frozenset[int]
    changes: tuple[Change, ...]
    undescribed: frozenset[int]


def save(
    batch: Batch,
    verdicts: Sequence[Verdict],
    *,
    at: datetime,
    paid_on: date | None = None,
    paid_by: int | None = None,
) -> Saved:
    """Write the verdicts of a batch that X answered at `at`.

    `paid_by` is the project that X billed for it on the UTC day `paid_on`.
    """
    with cursor() as db:
        db.execute(SAVE, columns(batch, verdicts, at=at, paid_on=paid_on, paid_by=paid_by))
        rows = db.fetchall()
    return Saved(
        ours=frozenset(row[0] for row in rows),
        changes=tuple(change(row[0], at, row[3], row[4:]) for row in rows if row[2]),
        undescribed=frozenset(row[0] for row in rows if row[1]),
    )


UNKNOWN = (None,) * 6


def columns(
    batch: Batch,
    verdicts: Sequence[Verdict],
    *,
    at: datetime,
    paid_on: date | None = None,
    paid_by: int | None = None,
) -> dict[str, object]:
    ids, due_in, figures, hole_after, missing, gone = zip(*verdicts, strict=True)
    counts = [one or UNKNOWN for one in figures]
    retweets, replies, likes, quotes, bookmarks, impressions = zip(*counts, strict=True)
    kinds = zip(figures, missing, strict=True)
    return {
        "lease": batch.lease,
        "at": at,
        "paid_on": paid_on,
        "paid_by": paid_by,
        "ids": array(ids),
        "due_in": array(map(seconds, due_in)),
        "kind": array("measured" if one else reason or '""' for one, reason in kinds),
        "gone": array(gone),
        "hole_after": array(map(seconds, hole_after)),
        "retweets": array(retweets),
        "replies": array(replies),
        "likes": array(likes),
        "quotes": array(quotes),
        "bookmarks": array(bookmarks),
        "impressions": array(impressions),
    }


def seconds(time: timedelta | None) -> float | None:
    return None if time is None else time.total_seconds()
