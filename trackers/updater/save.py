"""The one statement that writes a batch: metrics, samples, next checks, fenced by its lease."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import chain

import orjson

from trackers.jobs.models import BUCKET_KEYS
from trackers.jobs.queue import Batch, new_stamp
from trackers.outbox.staging import TWEETS, later
from trackers.schedule import adapt
from trackers.schedule.intervals import Plan, jittered
from trackers.schedule.paid_days import ACROSS_DAYS, LEFT
from trackers.tweets.pace import KNOWN_PACE
from trackers.tweets.record import recording
from trackers.tweets.snowflake import BORN_AT
from trackers.updater.models import TweetBucket, TweetUpdate
from trackers.updater.promote import Verdict
from trackers.xapi.results import Shown
from tweetwatch.database import array, cursor

# The fence: the buckets that still carry the lease, and those of their keys whose job has their
# stamp. What another worker claimed meanwhile, or a person rescheduled or removed, is not ours, and
# nothing at all is written for it. Keys of these buckets that are not saved now stay claimed.
# Locks: the buckets, the jobs, then the tweets (in {record}), each in the order of ids. `held`
# locks the jobs before they are written: the UPDATE and the DELETE would each lock in their own
# order, and could deadlock with a refresh of the same tweets.
# Unless all were measured, `held` locks the tweets as well: `newest`, `missing` and `unclear` lock
# theirs one after the other, and could deadlock with a pause of the same tweets.
# `unseen` reads the tweets that X does not show under that lock; `missing` writes from it, so this
# is their state before. So a deletion is announced only when it happens.
# LATERAL and = ANY(ARRAY) rule out hash and merge joins: each row is found by the primary key,
# whatever the statistics say. With statistics from an empty queue, a plain join was planned as a
# scan of the whole table for each key.
# ctid: a job's row stays where `held` locked it, since any other writer changes its stamp.
# A tweet's row may have moved since the statement began, and is found by its id. An array of ctids
# keeps the planner from scanning the whole queue (see CLAIM).
# Tweets with a verdict come first, and the verdicts' arrays are only that long: unnest fills the
# rest with nulls. The rest are tweets for which X gave only counts; their age determines when they
# are due again. Those of a tier are due together, all others by the second, so that buckets fill
# up.
JOB = TweetUpdate._meta.db_table
BUCKET = TweetBucket._meta.db_table
AGE = "date_part('epoch', m.at - t.created_at)"
# 1 is the youngest tier; one more than the number of tiers means too old; null: posted in the
# future, or at an unknown time. The same rule as `Plan.tier`.
TIER_OF = "CASE WHEN {age} >= -300 THEN 1 + width_bucket({age}, %(bounds)s::float8[]) END"
TIER = TIER_OF.format(age=AGE)
# Where the interval adapts: by the pace from this measurement. If X has not yet said when the tweet
# was posted, its id does.
BORN_AGE = AGE.replace("m.at", "t.at").replace(
    "t.created_at", f"coalesce(t.created_at, {BORN_AT.format(id='t.id')})"
)
WAIT = (
    adapt.WAIT.format(
        age="m.age",
        pace=KNOWN_PACE.format(pace="m.pace", age="m.age"),
        accuracy="(%(accuracy)s::float8[])[m.adapting]",
        at_most="(%(at_most)s::float8[])[m.adapting]",
        at_least="(%(at_least)s::float8[])[m.adapting]",
        stretch="%(stretch)s::float8",
    )
    + " * (1 + (%(jitter)s::float8[])[m.adapting] * (2 * random() - 1))"
)
# X has just billed the tweet for this day. Where money is short, a wait that ends on another day is
# stretched: by our clock, which differs from X's only by seconds. A verdict's wait that is shorter
# than the interval ever gives (an edit is looked at again at once) stays.
AT_LEAST = "(%(at_least)s::float8[])[m.adapting]"
ACROSS = ACROSS_DAYS.format(
    wait="least(h.due_in, m.wait)",
    left=LEFT.format(at="now()"),
    day_stretch="%(day_stretch)s::float8",
    longest=f"({AT_LEAST} * {adapt.STRETCH_MOST})",
    chance="m.chance",
)
SECONDS = f"""CASE
    WHEN %(day_stretch)s::float8 <= 1
         OR h.due_in < {AT_LEAST} * (1 - (%(jitter)s::float8[])[m.adapting])
    THEN least(h.due_in, m.wait) ELSE {ACROSS} END"""
HOLE = f"""coalesce(m.hole_after, (%(holes)s::float8[])[
               coalesce({TIER}, cardinality(%(holes)s::float8[]))]) * interval '1 second'"""
SAVE = recording(
    f"""
    WITH fence AS MATERIALIZED (
        DELETE FROM {BUCKET} WHERE lease = %(lease)s
        RETURNING due_at, lease, attempts, urgent, owed_since, stamp, keys
    ),
    stay AS (
        INSERT INTO {BUCKET} (due_at, lease, attempts, urgent, owed_since, stamp, keys)
        SELECT due_at, lease, attempts, urgent, owed_since, stamp, of.keys
        FROM fence CROSS JOIN LATERAL (
            SELECT array_agg(key) AS keys FROM unnest(fence.keys) AS key
            WHERE (key IN (SELECT unnest(%(ids)s::bigint[]))) IS NOT TRUE
        ) AS of
        WHERE of.keys IS NOT NULL
    ),
    held AS MATERIALIZED (
        SELECT a.*, job.place, (%(ats)s::timestamptz[])[a.request] AS at,
               (%(paid_on)s::date[])[a.request] AS paid_on,
               (%(paid_by)s::int[])[a.request] AS paid_by
        FROM (
            SELECT * FROM unnest(
                %(ids)s::bigint[], %(request)s::int[],
                %(kind)s::text[], %(due_in)s::float8[], %(gone)s::bool[],
                %(hole_after)s::float8[], %(urgent)s::bool[],
                %(rt)s::int[], %(re)s::int[], %(li)s::int[], %(qu)s::int[], %(bo)s::int[],
                %(im)s::bigint[]
            ) AS a(id, request, kind, due_in, gone, hole_after, urgent, rt, re, li, qu, bo, im)
            WHERE (id IN (SELECT unnest(keys) FROM fence)) IS TRUE
            ORDER BY id
        ) a
        CROSS JOIN LATERAL (
            SELECT ctid AS place FROM {JOB}
            WHERE key = a.id AND stamp = ANY(ARRAY(SELECT stamp FROM fence)) FOR UPDATE
        ) job
        LEFT JOIN LATERAL (
            SELECT FROM trackers_tweet WHERE %(mixed)s AND id = a.id FOR UPDATE
        ) tweet ON true
    ),
    measured AS MATERIALIZED (
        SELECT id AS tweet_id, at, paid_on, paid_by, kind, due_in, hole_after,
               rt, re, li, qu, bo, im
        FROM held WHERE kind IS NULL OR kind = 'measured'
    ),
    unseen AS MATERIALIZED (
        SELECT h.*, t.gone_at, greatest(t.measured_until, t.tracked_at) AS since
        FROM held h CROSS JOIN LATERAL (
            SELECT * FROM trackers_tweet WHERE id = h.id FOR UPDATE
        ) t WHERE h.kind NOT IN ('measured', 'broken', '')
    ),
    {{record}},
    planned AS MATERIALIZED (
        SELECT h.place,
               CASE WHEN m.wait IS NOT NULL
                         AND (h.kind IS NULL OR h.kind = 'measured' AND h.due_in IS NOT NULL)
                    THEN to_timestamp(ceil(date_part('epoch', now()) + {SECONDS}))
                    WHEN h.kind IS NULL
                    THEN now() + (%(every)s::float8[])[m.tier] * interval '1 second'
                    ELSE to_timestamp(ceil(date_part('epoch', now()) + h.due_in)) END AS due_at,
               CASE WHEN h.kind IS NULL THEN m.tier = 1 AND cardinality(%(bounds)s::float8[]) > 1
                    ELSE h.urgent END AS urgent
        FROM held h LEFT JOIN (
            -- Each tweet's chances once: they are volatile, so this is not pulled up. OFFSET: nor
            -- is what it reads, or each use of an age would work that out anew.
            SELECT m.id, m.adapting, CASE WHEN m.has_time THEN m.adapting END AS tier,
                   CASE WHEN (%(accuracy)s::float8[])[m.adapting] IS NOT NULL THEN {WAIT} END
                       AS wait,
                   CASE WHEN %(day_stretch)s::float8 > 1 THEN random() END AS chance
            FROM (
                SELECT a.id, a.pace, a.age, a.has_time, {TIER_OF.format(age="a.age")} AS adapting
                FROM (
                    SELECT t.id, t.pace, {BORN_AGE} AS age, t.created_at IS NOT NULL AS has_time
                    FROM recorded t OFFSET 0
                ) a OFFSET 0
            ) m
        ) m ON m.id = h.id
    ),
    moved AS (
        UPDATE {JOB} j
        SET due_at = p.due_at, stamp = %(stamp)s, attempts = 0, urgent = coalesce(p.urgent, false),
            for_money_until = NULL
        FROM planned p
        WHERE j.ctid = ANY(ARRAY(SELECT place FROM held)) AND j.ctid = p.place
          AND p.due_at IS NOT NULL
        RETURNING j.key, j.due_at, j.urgent
    ),
    again AS (
        INSERT INTO {BUCKET} (due_at, urgent, stamp, keys)
        SELECT due_at, urgent, %(stamp)s, keys[first:first + {BUCKET_KEYS - 1}]
        FROM (
            SELECT due_at, urgent, array_agg(key ORDER BY key) AS keys FROM moved GROUP BY 1, 2
        ) AS together
        CROSS JOIN LATERAL generate_series(1, cardinality(keys), {BUCKET_KEYS}) AS first
    ),
    over AS (
        DELETE FROM {JOB} j USING planned p
        WHERE j.ctid = ANY(ARRAY(SELECT place FROM planned WHERE due_at IS NULL))
          AND j.ctid = p.place
    ),
    missing AS (
        UPDATE trackers_tweet t
        SET missing_since = coalesce(t.missing_since, a.at),
            -- What the users endpoint told is more than the tweets' endpoint ever says.
            missing_because = CASE
                WHEN a.kind = 'unauthorized' AND t.missing_because IN ('protected', 'suspended')
                THEN t.missing_because ELSE a.kind END,
            gone_at = CASE WHEN a.gone THEN coalesce(t.gone_at, a.at) END,
            unclear_since = NULL, unclear_because = ''
        FROM unseen a WHERE t.id = ANY(ARRAY[a.id])
    ),
    unclear AS (
        -- X showed the broken ones too, and bills them once a day, as those that were measured.
        UPDATE trackers_tweet t
        SET unclear_since = coalesce(t.unclear_since, h.at),
            unclear_because = coalesce(%(broken)s::jsonb ->> h.id::text, ''),
            paid_on = CASE WHEN h.kind = 'broken' THEN coalesce(h.paid_on, t.paid_on)
                           ELSE t.paid_on END,
            paid_by = CASE WHEN h.kind = 'broken' THEN coalesce(h.paid_by, t.paid_by)
                           ELSE t.paid_by END
        FROM held h WHERE t.id = ANY(ARRAY[h.id]) AND h.kind IN ('broken', '')
    ),
    hushed AS (
        -- What X no longer shows we show no longer either.
        DELETE FROM trackers_tweettext
        WHERE tweet_id = ANY(ARRAY(SELECT id FROM held WHERE gone))
    ),
    hushed_versions AS (
        UPDATE trackers_tweetversion SET text = NULL
        WHERE tweet_id = ANY(ARRAY(SELECT id FROM held WHERE gone)) AND text IS NOT NULL
    )
    SELECT array_agg(held.id), count(*) FILTER (WHERE r.changed AND NOT r.belated),
           array_agg(held.id) FILTER (
               WHERE r.gone_at IS NOT NULL OR r.id IS NOT NULL AND r.created_at IS NULL)
    FROM held LEFT JOIN recorded r ON r.id = held.id
    """,
    hole=HOLE,
    # Not needed: the job's row is locked, and a deletion of the tweet locks that first.
    late_lock="",
    more=f"""
        UNION ALL
        SELECT ({TWEETS}), 'delete', {later("at", "since")}, id, NULL, NULL FROM unseen
        WHERE ({TWEETS}) IS NOT NULL AND gone AND gone_at IS NULL
    """,
)


@dataclass(frozen=True, slots=True)
class Judged:
    """The outcome for the tweets of one request: a verdict each, or only new counts.

    X answered `at`, and billed the project `paid_by` on the UTC day `paid_on`.
    """

    verdicts: Sequence[Verdict] | Shown
    at: datetime
    paid_on: date | None = None
    paid_by: int | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """What was written.

    `ours`: tweets whose claim was still valid; nothing was written for the others. `changed`: how
    many have new metrics. `undescribed`: tweets whose description X's answer may fill in.
    """

    ours: frozenset[int]
    changed: int
    undescribed: frozenset[int]


NOTHING_SAVED = Saved(frozenset(), 0, frozenset())


def save(batch: Batch, judged: Sequence[Judged], plan: Plan) -> Saved:
    """Write what X said about the tweets of a batch, and when each is looked up again."""
    with cursor() as db:
        found = db.execute(SAVE.on(db), columns(batch, judged, plan)).fetchone()
    assert found is not None
    ours, changed, undescribed = found
    return Saved(frozenset(ours or ()), changed, frozenset(undescribed or ()))


UNKNOWN = (None,) * 6


def columns(batch: Batch, judged: Sequence[Judged], plan: Plan) -> dict[str, object]:
    """The parameters of SAVE: tweets with a verdict first, then those with only counts."""
    verdicts: list[Verdict] = []
    shown: list[Shown] = []
    ids: list[int] = []
    request: list[int] = []
    for place, part in enumerate(judged, 1):
        if not isinstance(part.verdicts, Shown):
            verdicts += part.verdicts
            request += [place] * len(part.verdicts)
    ids += [one.tweet_id for one in verdicts]
    for place, part in enumerate(judged, 1):
        if isinstance(part.verdicts, Shown):
            shown.append(part.verdicts)
            ids += part.verdicts.ids
            request += [place] * len(part.verdicts.ids)
    counts = [one.figures or UNKNOWN for one in verdicts]
    figures = [
        array(chain(column, *(one.figures[place] for one in shown)))
        for place, column in enumerate(zip(*counts, strict=True) if counts else [()] * 6)
    ]
    return {
        "lease": batch.lease,
        "stamp": new_stamp(),
        "ids": array(ids),
        "request": array(request),
        "ats": [one.at for one in judged],
        "paid_on": [one.paid_on for one in judged],
        "paid_by": [one.paid_by for one in judged],
        "kind": array(map(kind, verdicts)),
        "due_in": array(seconds(one.due_in) for one in verdicts),
        "gone": array(one.gone for one in verdicts),
        "hole_after": array(seconds(one.hole_after) for one in verdicts),
        "urgent": array(one.urgent for one in verdicts),
        "mixed": not all(one.figures for one in verdicts),
        "broken": reasons(verdicts),
        **dict(zip(("rt", "re", "li", "qu", "bo", "im"), figures, strict=True)),
        **of_plan(plan),
    }


def of_plan(plan: Plan) -> dict[str, object]:
    """The intervals as SAVE needs them, for the same rules as `Plan.tier` and `hole_after`."""
    bounds = [tier.bounds or (None, None, None) for tier in plan.tiers]
    return {
        "bounds": [tier.younger_than.total_seconds() for tier in plan.tiers],
        # One jitter for a whole tier, so that its tweets stay together.
        "every": [jittered(tier).total_seconds() for tier in plan.tiers],
        # Tweets too old for any tier have the last one's.
        "holes": [seconds(plan.hole_after(tier)) for tier in [*plan.tiers, *plan.tiers[-1:]]],
        "accuracy": [one[0] for one in bounds],
        "at_most": [one[1] for one in bounds],
        "at_least": [one[2] for one in bounds],
        "jitter": [tier.jitter for tier in plan.tiers],
        "stretch": plan.stretch,
        "day_stretch": plan.day_stretch,
    }


def reasons(verdicts: Iterable[Verdict]) -> str:
    """Why some tweets could not be read, as JSON; hardly any batch has such tweets."""
    told = {str(one.tweet_id): one.broken[:200] for one in verdicts if one.broken}
    return orjson.dumps(told).decode()


def kind(verdict: Verdict) -> str:
    """The verdict's name in SAVE, as an element of a text array."""
    if verdict.figures:
        return "measured"
    return verdict.missing or ("broken" if verdict.broken else '""')


def seconds(time: timedelta | None) -> float | None:
    return None if time is None else time.total_seconds()
