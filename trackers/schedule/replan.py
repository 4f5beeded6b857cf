"""After the intervals change: a task moves what is scheduled to the new plan, in pieces.

asked for ─> a task: pieces for a few seconds, a transaction each ─> the next task ─> finished
Each piece records how far it came (`Replanning`), so a worker that dies loses at most one piece.
If the intervals change meanwhile, it starts over.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from trackers.jobs import ordinary
from trackers.jobs.queue import new_stamp, on
from trackers.schedule import adapt, intervals
from trackers.schedule.intervals import Plan
from trackers.schedule.models import Replanning
from trackers.schedule.namespace import TWEET_UPDATE
from trackers.schedule.paid_days import ACROSS_DAYS, LEFT
from trackers.tweets.pace import KNOWN_PACE
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.database import cursor

GO_ON = "trackers.tasks.go_on_replanning"

# Tweets per transaction. It locks at most as many buckets, fewer than a claim looks at
# (`tables.MOST_BUCKETS`), so that under backlog a claim always finds others.
PIECE = 1000
# Longer than any piece takes: no claim can take what is due later than this before it ends.
SOON = timedelta(seconds=20)
# How long a task works; then other tasks have their turn.
A_TASK = timedelta(seconds=5)
# A task that was silent for this long was lost with its worker.
LOST_AFTER = timedelta(seconds=30)

# The wait of an adapting row is counted from the last look, with the age and the pace at that time.
LAST_AGE = "date_part('epoch', t.measured_until - t.created_at)"
WAIT = adapt.WAIT.format(
    age="{age}",
    pace=KNOWN_PACE.format(pace="t.pace", age="{age}"),
    accuracy="tier.accuracy",
    at_most="tier.at_most",
    at_least="tier.at_least",
    stretch="coalesce((SELECT windows FROM trackers_stretch), 1)",
)
# Where money is short, a wait that does not end on the day of the last look is stretched.
DAY_STRETCH = "coalesce((SELECT money FROM trackers_stretch), 1)"
ACROSS = ACROSS_DAYS.format(
    wait="date_part('epoch', w.wait)",
    left=LEFT.format(at="t.measured_until"),
    day_stretch=DAY_STRETCH,
    longest=f"(tier.at_least * {adapt.STRETCH_MOST})",
    chance="w.chance",
)
# One piece: the next tweets, youngest first. A tweet's tier is the first whose bound exceeds its
# age; one from up to five minutes in the future has age 0, as in the pure rule. It is due one
# interval after its last look-up. If that has passed, it is due at once, spread by the namespace's
# rate of arrivals from the start of the whole re-planning: a shorter interval for a million old
# tweets must not put these before the young ones.
# Due times are rounded to a second, or a tenth of one, so that buckets fill up.
# Only waiting jobs move: a claimed one is planned by its own save. Locks: first the buckets that
# are due SOON, until the end, so that no claim takes one of these keys, since its save would then
# be fenced off; then the jobs, in the order of keys.
# SKIP LOCKED: this never waits for a save, nor a save for it, and a claim takes other buckets.
# No join on the queue: each job is found by its key, whatever the statistics say. With statistics
# of an empty queue, an UPDATE with a join read the whole table for each key. Hence LATERAL with a
# lock, and ON CONFLICT, which hits exactly the rows that were locked.
# Resting tweets that the new list covers come back (`woken`); paused, missing and isolated ones
# stay. They come first: their INSERT may have to wait for a person's refresh of the same tweets,
# and must not meanwhile hold locks that the refresh needs next.
REPLAN_PIECE = """
    WITH tier AS MATERIALIZED (
        SELECT younger_than, every, jitter, accuracy,
               date_part('epoch', at_most) AS at_most,
               date_part('epoch', at_least) AS at_least
        FROM trackers_interval WHERE enabled
    ),
    piece AS MATERIALIZED (
        SELECT * FROM trackers_tweet WHERE id < %(below)s ORDER BY id DESC LIMIT %(size)s
    ),
    wished AS MATERIALIZED (
        SELECT t.id,
               t.measured_until + CASE WHEN tier.accuracy IS NULL OR w.chance IS NULL THEN w.wait
                   ELSE interval '1 second' * {across} END AS due_at
        FROM piece t
        CROSS JOIN LATERAL (
            SELECT CASE WHEN tier.accuracy IS NULL THEN tier.every
                   ELSE interval '1 second' * {wait} END AS every, jitter, accuracy, at_least
            FROM tier
            WHERE younger_than > greatest(now() - t.created_at, interval '0')
            ORDER BY younger_than LIMIT 1
        ) tier
        CROSS JOIN LATERAL (
            SELECT tier.every * (1 + tier.jitter * (2 * random() - 1)) AS wait,
                   CASE WHEN {day_stretch} > 1 THEN random() END AS chance
        ) w
        WHERE NOT t.paused AND t.gone_at IS NULL AND t.missing_since IS NULL
          AND t.version_of IS NULL
          AND t.measurements > 0 AND t.created_at <= now() + interval '5 minutes'
    ),
    planned AS MATERIALIZED (
        SELECT w.id, w.due_at <= now() AS is_overdue, CASE WHEN w.due_at > now()
            THEN date_trunc('second', w.due_at) + interval '1 second'
            ELSE %(begun_at)s + interval '0.1 second' * floor(
                10 / n.arrivals_per_second::float8 * (%(overdue)s - 1
                    + row_number() OVER (PARTITION BY w.due_at > now() ORDER BY w.id DESC)))
            END AS due_at
        FROM wished w CROSS JOIN trackers_namespace n WHERE n.name = %(namespace)s
    ),
    woken AS (
        INSERT INTO {job} (key, due_at, stamp)
        SELECT p.id, p.due_at, %(stamp)s + {of_slot} FROM planned p
        WHERE (SELECT true FROM {job} j WHERE j.key = p.id LIMIT 1) IS NULL
        ORDER BY p.id
        ON CONFLICT (key) DO NOTHING
        RETURNING *
    ),
    known AS MATERIALIZED (
        SELECT p.id, p.due_at, job.stamp
        FROM planned p CROSS JOIN LATERAL (
            SELECT stamp FROM {job} j
            WHERE j.key = p.id AND j.attempts < {strikes}
              AND j.due_at IS DISTINCT FROM p.due_at LIMIT 1
        ) job
    ),
    free AS MATERIALIZED (
        SELECT of.*
        FROM (SELECT DISTINCT stamp FROM known ORDER BY stamp) AS asked CROSS JOIN LATERAL (
            SELECT stamp, keys, attempts FROM {bucket} b
            WHERE b.stamp = asked.stamp AND b.lease IS NULL AND b.due_at > now() + %(soon)s
            UNION ALL
            SELECT * FROM (
                SELECT stamp, keys, attempts FROM {bucket} b
                WHERE b.stamp = asked.stamp AND b.lease IS NULL AND b.due_at <= now() + %(soon)s
                FOR UPDATE SKIP LOCKED
            ) AS soon
        ) AS of
    ),
    waiting AS MATERIALIZED (
        SELECT k.id, k.due_at,
               CASE WHEN k.stamp = ANY(ARRAY(SELECT stamp FROM free WHERE attempts > 0)) THEN (
                   SELECT max(f.attempts) FROM free f
                   WHERE f.stamp = k.stamp AND k.id = ANY(f.keys)) ELSE 0 END AS attempts
        FROM (
            SELECT * FROM known
            WHERE ((id, stamp) IN (SELECT unnest(keys), stamp FROM free)) IS TRUE
              AND (SELECT count(*) FROM woken) >= 0
            ORDER BY id
        ) k
        CROSS JOIN LATERAL (
            SELECT FROM {job} j WHERE j.key = k.id AND j.stamp = k.stamp FOR UPDATE SKIP LOCKED
        ) locked
    ),
    moved AS (
        INSERT INTO {job} (key, due_at, attempts, stamp)
        SELECT id, due_at, attempts, %(stamp)s + {of_slot} FROM waiting ORDER BY id
        ON CONFLICT (key) DO UPDATE
        SET due_at = excluded.due_at, attempts = excluded.attempts, stamp = excluded.stamp
        RETURNING *
    ),
    put AS (SELECT * FROM moved UNION ALL SELECT * FROM woken),
    again AS ({into_buckets})
    SELECT (SELECT count(*) FROM piece), (SELECT min(id) FROM piece),
           (SELECT count(*) FROM moved), (SELECT count(*) FROM woken),
           (SELECT count(*) FROM planned WHERE is_overdue)
""".replace("{wait}", WAIT).replace("{age}", LAST_AGE)
REPLAN_PIECE = REPLAN_PIECE.replace("{across}", ACROSS).replace("{day_stretch}", DAY_STRETCH)

# The planner's estimate is good enough for a progress bar.
ABOUT_HOW_MANY = """
    SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'trackers_tweet'::regclass
"""


@dataclass(frozen=True, slots=True)
class Progress:
    """`lost`: no worker has continued it lately, or none has begun."""

    seen: int
    tweets: int
    moved: int
    woken: int
    finished: bool
    lost: bool

    @property
    def percent(self) -> int:
        return 100 if self.finished else min(99, 100 * self.seen // max(self.tweets, 1))


def replan() -> None:
    """Re-plan all waiting look-ups by the current intervals, and wake resting tweets they cover.

    A re-planning that is under way starts over.
    """
    with transaction.atomic():
        Replanning.objects.get_or_create(pk=1)
        row = Replanning.objects.select_for_update().get()
        begin(row, intervals.current()[1])
        hand_over(row)


def go_on(turn: int, *, at_most: timedelta = A_TASK, size: int = PIECE) -> None:
    """Plan pieces for a while, and hand over to the next task unless all is planned.

    With an earlier turn it does nothing: another task has taken its place.
    """
    end = time.monotonic() + at_most.total_seconds()
    while plan_piece(turn, size=size, is_last=time.monotonic() >= end):
        pass


def plan_piece(turn: int, *, size: int = PIECE, is_last: bool = False) -> bool:
    """Plan the next piece; a task's last one hands over. True if this task is to continue."""
    with transaction.atomic():
        row = Replanning.objects.select_for_update().filter(turn=turn, finished_at=None).first()
        if row is None:
            return False
        _, plan = intervals.current()
        if row.plan != told(plan):
            begin(row, plan)
        seen = move_piece(row, size)
        if not plan.tiers or seen < size:
            row.finished_at = Now()
        elif is_last:
            hand_over(row)
        row.touched_at = Now()
        row.save()
    return not is_last and row.finished_at is None


def begin(row: Replanning, plan: Plan) -> None:
    with cursor() as db:
        found = db.execute(ABOUT_HOW_MANY).fetchone()
    assert found is not None
    now, _ = intervals.current()
    row.plan, row.tweets, row.below = told(plan), found[0], LARGEST_ID
    row.begun_at, row.finished_at = now, None
    row.seen = row.moved = row.woken = row.overdue = 0


def move_piece(row: Replanning, size: int) -> int:
    """Plan the next tweets below the row's mark and lower it; return how many there were."""
    params = {
        "namespace": TWEET_UPDATE,
        "below": row.below,
        "size": size,
        "begun_at": row.begun_at,
        "overdue": row.overdue,
        "soon": SOON,
        "stamp": new_stamp(),
    }
    with cursor() as db:
        found = db.execute(on(TWEET_UPDATE, REPLAN_PIECE), params).fetchone()
    assert found is not None
    seen, lowest, moved, woken, overdue = found
    row.below = row.below if lowest is None else lowest
    row.seen += seen
    row.moved += moved
    row.woken += woken
    row.overdue += overdue
    return int(seen)


def hand_over(row: Replanning) -> None:
    """Have the next task, and no other, continue from the row. To be called in a transaction."""
    row.turn += 1
    row.touched_at = Now()
    row.save()
    ordinary.enqueue(GO_ON, row.turn)


def find_lost() -> bool:
    """Replace a task that died with its worker; return whether there was one."""
    with transaction.atomic():
        row = (
            Replanning.objects.select_for_update(skip_locked=True)
            .filter(finished_at=None, touched_at__lt=Now() - LOST_AFTER)
            .first()
        )
        if row is not None:
            hand_over(row)
    return row is not None


def progress() -> Progress | None:
    """The progress of the latest re-planning; None: there never was one."""
    row = Replanning.objects.annotate(silent=Now() - F("touched_at")).first()
    if row is None or row.begun_at is None:
        return None
    finished = row.finished_at is not None
    lost = not finished and row.silent > 2 * LOST_AFTER
    return Progress(row.seen, row.tweets, row.moved, row.woken, finished, lost)


def told(plan: Plan) -> str:
    return " ".join(
        f"{tier.younger_than.total_seconds():g}="
        + (
            f"{tier.every.total_seconds():g}"
            if tier.bounds is None
            else "{1:g}..{2:g}@{0:g}".format(*tier.bounds)
        )
        + f"~{tier.jitter:g}"
        for tier in plan.tiers
    )
