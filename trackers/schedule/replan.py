"""After the intervals changed: what is scheduled moves to the new plan, in one statement."""

from __future__ import annotations

from dataclasses import dataclass

from trackers.jobs.queue import on
from trackers.schedule.namespace import TWEET_UPDATE
from tweetwatch.database import cursor

# Each tweet's tier is the first whose bound lies past its age; a tweet born up to five minutes
# ahead is of age 0, as in the pure rule. Due one interval after its last look. Where that has
# passed already it is due now, the youngest first, spread by the namespace's rate of arrivals:
# a shorter interval for a million old tweets must not stand before the young ones.
# Only waiting rows: what is claimed is planned anew by its own save. SKIP LOCKED: so this never
# waits for a save, nor a save for it.
# The resting ones that the new list covers come back; paused, missing and isolated ones stay.
REPLAN = """
    WITH tier AS MATERIALIZED (
        SELECT younger_than, every, jitter FROM trackers_interval WHERE enabled
    ),
    wished AS MATERIALIZED (
        SELECT t.id,
               t.measured_until + tier.every * (1 + tier.jitter * (2 * random() - 1)) AS due_at
        FROM trackers_tweet t
        CROSS JOIN LATERAL (
            SELECT every, jitter FROM tier
            WHERE younger_than > greatest(now() - t.created_at, interval '0')
            ORDER BY younger_than LIMIT 1
        ) tier
        WHERE NOT t.paused AND t.gone_at IS NULL AND t.missing_since IS NULL
          AND t.measurements > 0 AND t.created_at <= now() + interval '5 minutes'
    ),
    planned AS MATERIALIZED (
        SELECT w.id, CASE WHEN w.due_at > now() THEN w.due_at
            ELSE now() + (row_number() OVER (PARTITION BY w.due_at > now() ORDER BY w.id DESC) - 1)
                       / n.arrivals_per_second::float8 * interval '1 second' END AS due_at
        FROM wished w CROSS JOIN trackers_namespace n WHERE n.name = %(namespace)s
    ),
    waiting AS MATERIALIZED (
        SELECT j.key FROM {job} j JOIN planned ON planned.id = j.key
        WHERE j.lease IS NULL AND j.attempts < 4 AND j.due_at IS DISTINCT FROM planned.due_at
        ORDER BY j.key FOR UPDATE OF j SKIP LOCKED
    ),
    moved AS (
        UPDATE {job} j SET due_at = planned.due_at
        FROM planned, waiting WHERE j.key = planned.id AND waiting.key = j.key
        RETURNING j.key
    ),
    woken AS (
        INSERT INTO {job} (key, due_at, lease, attempts)
        SELECT planned.id, planned.due_at, NULL, 0 FROM planned
        WHERE NOT EXISTS (SELECT FROM {job} j WHERE j.key = planned.id)
        ORDER BY planned.id
        ON CONFLICT (key) DO NOTHING
        RETURNING key
    )
    SELECT (SELECT count(*) FROM moved), (SELECT count(*) FROM woken)
"""


@dataclass(frozen=True, slots=True)
class Replanned:
    moved: int
    woken: int


def replan() -> Replanned:
    """Plan every waiting look-up by the intervals in force, and wake the resting they cover."""
    with cursor() as db:
        found = db.execute(on(TWEET_UPDATE, REPLAN), {"namespace": TWEET_UPDATE}).fetchone()
    assert found is not None
    return Replanned(*found)
