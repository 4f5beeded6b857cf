"""The only place where samples are written, whoever paid for the measurement.

measured (metrics as X gave them) ─> the tweet's newest sample ─ when it changes ─> a closed one
                                                              └─ and somebody subscribes ─> events
Unchanged metrics only extend the newest sample. After a hole, more than twice the interval without
a measurement, the same metrics begin a new sample: no run hides a hole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from trackers.milestones.crossings import ARE_KEPT, PASSED
from trackers.outbox.staging import MILESTONES, STAGED, TOPIC, TWEETS, later
from trackers.tweets.pace import PACE
from trackers.tweets.snowflake import BORN_AT
from trackers.xapi.results import Figures
from tweetwatch.database import Cursor, array, cursor, plain


@dataclass(frozen=True, slots=True)
class Measured:
    """Metrics of one tweet at one time.

    `hole_after`: if the last measurement is longer ago, a new run begins; None: it always does.
    """

    tweet_id: int
    at: datetime
    figures: Figures
    hole_after: timedelta | None


class Change(NamedTuple):
    """A tweet whose metrics differ from the last ones. `before` is None at its first sample."""

    tweet_id: int
    at: datetime
    before: Figures | None
    after: Figures


# Chains of CTEs that follow one called `measured`: tweet_id, at, hole_after, paid_by and paid_on
# (who paid for the measurement and on which UTC day, null if it was free), and the six metrics
# (rt, re, li, qu, bo, im). The caller's `measured` decides which rows may be written; {hole} is an
# expression over a tweet `t` and a measurement `m`, for the interval after which a run ends.
# They provide `recorded`, with the metrics before, then `closed`, and the events.
# Locks: the tweets' rows, in the order of ids, in which `measured` comes; after the job's row if
# there is one. A row is read after it is locked, so that two measurers of one tweet (the updater
# and a poll) close each run once.
# A measurement from before the end of the newest sample (one that took long to arrive) is kept as a
# closed sample of its own.
FIGURES = "{0}.retweets, {0}.replies, {0}.likes, {0}.quotes, {0}.bookmarks, {0}.impressions"
MEASURED_FIGURES = "m.rt, m.re, m.li, m.qu, m.bo, m.im"
# The rule uses a tweet's ages at this measurement and at the one before a dozen times. OFFSET keeps
# the planner from computing them each time. By date_part, as in all that a save computes for each
# tweet: extract gives numeric, and converting that to float8 takes ten times as long as the rest of
# an age.
RULE = PACE.format(
    age="o.age",
    last_age="o.last_age",
    views="m.im",
    likes="m.li",
    retweets="m.rt",
    old_views="t.impressions",
    old_likes="t.likes",
    old_retweets="t.retweets",
    last="t.pace",
)
# From its id until X has said when the tweet was posted.
BORN = f"coalesce(t.created_at, {BORN_AT.format(id='t.id')})"
NEW_PACE = f"""(
                SELECT {RULE}
                FROM (
                    SELECT date_part('epoch', m.at - born) AS age,
                           CASE WHEN t.measurements > 0
                                THEN date_part('epoch', t.measured_until - born) END AS last_age
                    FROM (SELECT {BORN} AS born OFFSET 0) b OFFSET 0
                ) o
            )"""
SHOWN_AND_PAID = """
            retweets = m.rt, replies = m.re, likes = m.li,
            quotes = m.qu, bookmarks = m.bo, impressions = m.im,
            missing_since = NULL, missing_because = '', gone_at = NULL,
            unclear_since = NULL, unclear_because = '',
            paid_on = coalesce(m.paid_on, t.paid_on), paid_by = coalesce(m.paid_by, t.paid_by)
"""
CLOSED = """
    closed AS (
        INSERT INTO trackers_sample (tweet_id, taken_at, measured_until, measurements,
                                     retweets, replies, likes, quotes, bookmarks, impressions)
        SELECT id, taken_at, measured_until, measurements,
               retweets, replies, likes, quotes, bookmarks, impressions
        FROM recorded WHERE ended AND NOT belated
        UNION ALL
        SELECT id, at, at, 1, rt, re, li, qu, bo, im FROM recorded WHERE belated
    )
"""

# For the lists of what grows fastest (trackers.tweets.movers): which tweets to look at. One row of
# a table without WAL, so that a save costs what it did.
NOTED = """
    noted AS (
        INSERT INTO trackers_changed (ids)
        SELECT array_agg(id) FROM recorded WHERE changed AND NOT belated HAVING count(*) > 0
    )
"""

# Their events, while somebody subscribes. A tweet that was gone gets a `create`; first metrics are
# not a change.
# `t` is later than in all earlier events of the tweet; in that of its creation it is `tracked_at`.
# Ids are drawn while the tweets are locked, so the events of one tweet have ascending ids.
# {more}: further events of the statement.
EVENTS = f"""
    {TOPIC},
    news AS MATERIALIZED (
        SELECT id, CASE WHEN gone_at IS NULL THEN 'update' ELSE 'create' END AS type,
               {later("at", "greatest(measured_until, gone_at, tracked_at)")} AS t,
               ARRAY[{FIGURES}, rt, re, li, qu, bo, im]::bigint[] AS f
        FROM recorded
        WHERE (({TWEETS}) IS NOT NULL OR {ARE_KEPT}) AND NOT belated
          AND (changed AND measurements > 0 OR gone_at IS NOT NULL)
    ),
    {PASSED},
    told AS (
        INSERT INTO trackers_event (topic_id, type, t, tweet_id, figures, data)
        SELECT ({TWEETS}), type, t, id, f, NULL::jsonb FROM news WHERE ({TWEETS}) IS NOT NULL
        UNION ALL
        SELECT ({MILESTONES}), 'create', t, tweet_id, NULL,
               jsonb_build_object('metric', metric, 'at', at, 'figure', figure)
        FROM passed
        {{more}}
        RETURNING id
    ),
    {STAGED}
""".replace("{0}.", "")

# LATERAL and = ANY(ARRAY) rule out hash and merge joins: rows are found one by one by their key, in
# the given order, whatever the statistics say.
LOCK_AND_RECORD = f"""
    recorded AS MATERIALIZED (
        SELECT t.id, m.at, t.created_at, t.taken_at, t.measured_until, t.measurements,
               {FIGURES.format("t")}, m.rt, m.re, m.li, m.qu, m.bo, m.im, m.paid_on, m.paid_by,
               t.measurements > 0 AND m.at < t.measured_until AS belated,
               one.changed, one.changed OR one.hole AS begins,
               (one.changed OR one.hole) AND t.measurements > 0 AS ended,
               t.gone_at, t.tracked_at, {NEW_PACE} AS pace
        FROM measured m CROSS JOIN LATERAL (
            SELECT * FROM trackers_tweet WHERE id = m.tweet_id FOR UPDATE
        ) t CROSS JOIN LATERAL (
            SELECT t.measurements = 0
                   OR ({FIGURES.format("t")}) IS DISTINCT FROM ({MEASURED_FIGURES}) AS changed,
                   (m.at <= t.measured_until + {{hole}}) IS NOT TRUE AS hole
        ) one
    ),
    {CLOSED},
    newest AS (
        UPDATE trackers_tweet t
        SET taken_at = CASE WHEN m.begins THEN m.at ELSE m.taken_at END, measured_until = m.at,
            measurements = CASE WHEN m.begins THEN 1 ELSE m.measurements + 1 END,
            pace = m.pace,
            {SHOWN_AND_PAID}
        FROM recorded m
        WHERE t.id = ANY(ARRAY[m.id]) AND NOT m.belated
    )
"""

# PostgreSQL 18 can return a row as it was before (`old`), so the UPDATE itself is the lock.
# {late_lock}: tweets that were not updated must not be deleted meanwhile.
# The metrics are compared first: mostly they differ, and then the hole need not be computed.
GOES_ON = f"""t.measurements > 0
                       AND ({FIGURES.format("t")}) IS NOT DISTINCT FROM ({MEASURED_FIGURES})
                       AND m.at <= t.measured_until + {{hole}}"""
UPDATE_AND_RECORD = f"""
    newest AS (
        UPDATE trackers_tweet t
        SET taken_at = CASE WHEN {GOES_ON} THEN t.taken_at ELSE m.at END, measured_until = m.at,
            measurements = CASE WHEN {GOES_ON} THEN t.measurements + 1 ELSE 1 END,
            pace = {NEW_PACE},
            {SHOWN_AND_PAID}
        FROM measured m
        WHERE t.id = ANY(ARRAY[m.tweet_id])
          AND (t.measurements = 0 OR m.at >= t.measured_until)
        RETURNING t.id, m.at, old.created_at, old.taken_at, old.measured_until, old.measurements,
            {FIGURES.format("old")}, m.rt, m.re, m.li, m.qu, m.bo, m.im, false AS belated,
            old.measurements = 0
            OR ({FIGURES.format("old")}) IS DISTINCT FROM ({MEASURED_FIGURES}) AS changed,
            new.measurements = 1 AND old.measurements > 0 AS ended, old.gone_at, old.tracked_at,
            new.pace
    ),
    recorded AS MATERIALIZED (
        SELECT * FROM newest
        UNION ALL
        SELECT t.id, m.at, t.created_at, t.taken_at, t.measured_until, t.measurements,
               {FIGURES.format("t")}, m.rt, m.re, m.li, m.qu, m.bo, m.im, true, false, false,
               t.gone_at, t.tracked_at, t.pace
        FROM measured m CROSS JOIN LATERAL (
            SELECT * FROM trackers_tweet WHERE id = m.tweet_id {{late_lock}}
        ) t
        WHERE (SELECT count(*) FROM newest) < (SELECT count(*) FROM measured)
          AND (m.tweet_id IN (SELECT id FROM newest)) IS NOT TRUE
    ),
    {CLOSED}
"""


class Recording(NamedTuple):
    """A statement that records measurements: `locking` up to PostgreSQL 17, `returning` from 18."""

    locking: str
    returning: str

    def on(self, db: Cursor) -> str:
        """The statement for this cursor's server."""
        return self.returning if db.connection.info.server_version >= 180000 else self.locking


def recording(statement: str, *, hole: str, late_lock: str, more: str = "") -> Recording:
    """The statement, with {record} replaced by each of the chains above."""
    return Recording(
        *(
            plain(
                statement.replace("{record}", f"{chain}, {NOTED}, {EVENTS}")
                .replace("{more}", more)
                .replace("{hole}", hole)
                .replace("{late_lock}", late_lock)
            )
            for chain in (LOCK_AND_RECORD, UPDATE_AND_RECORD)
        )
    )


# `measured` for callers that have no job as a fence: a poll, an import.
RECORD_THESE = """
    WITH measured AS MATERIALIZED (
        SELECT m.*, %(paid_on)s::date AS paid_on, %(paid_by)s::int AS paid_by FROM unnest(
            %(ids)s::bigint[], %(at)s::timestamptz[], %(hole_after)s::interval[],
            %(retweets)s::int[], %(replies)s::int[], %(likes)s::int[], %(quotes)s::int[],
            %(bookmarks)s::int[], %(impressions)s::bigint[]
        ) AS m(tweet_id, at, hole_after, rt, re, li, qu, bo, im)
    ),
    {record}
    SELECT b.id, b.at, b.measurements > 0,
           b.retweets, b.replies, b.likes, b.quotes, b.bookmarks, b.impressions,
           b.rt, b.re, b.li, b.qu, b.bo, b.im
    FROM recorded b WHERE b.changed AND NOT b.belated
"""
RECORD_MEASURED = recording(RECORD_THESE, hole="m.hole_after", late_lock="FOR KEY SHARE")


def record(
    measured: Sequence[Measured], *, paid_on: date | None = None, paid_by: int | None = None
) -> list[Change]:
    """Write measurements of tracked tweets, at most one of each; return what they changed.

    `paid_by` is the project that X billed for them on the UTC day `paid_on`, if any.
    """
    ordered = sorted(measured, key=lambda one: one.tweet_id)
    with cursor() as db:
        db.execute(
            RECORD_MEASURED.on(db), {**columns(ordered), "paid_on": paid_on, "paid_by": paid_by}
        )
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
    """`counts`: the six metrics before, and the six after."""
    before = Figures._make(counts[:6]) if measured_before else None
    return Change(id, at, before, Figures._make(counts[6:]))
