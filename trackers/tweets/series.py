"""Series for curves: runs of one tweet in a range, the newest few of many, and the holes in them.

A run says that the same figures were measured from `taken_at` until `measured_until`. Nothing is
known of the time between two runs; where it is longer than the usual step, that is a hole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from trackers.tweets.history import EVERY_RUN, Run
from tweetwatch.database import cursor

# How often a tweet was looked up at that time; None: nobody can say.
Usual = Callable[[datetime], timedelta | None]

# Steps before a gap by which the usual one is judged as well.
STEPS_BEFORE = 5

# One probe per tweet and branch, so that the length of its history does not matter.
RECENT = f"""
    SELECT run.* FROM unnest(%(ids)s::bigint[]) AS asked(id)
    CROSS JOIN LATERAL (
        SELECT * FROM ({EVERY_RUN}) AS every_run
        WHERE tweet_id = asked.id ORDER BY taken_at DESC LIMIT %(most)s
    ) AS run
    ORDER BY run.tweet_id, run.taken_at
"""

SINCE = f"""
    SELECT * FROM ({EVERY_RUN}) AS run
    WHERE tweet_id = %(id)s AND measured_until >= %(since)s::timestamptz
    ORDER BY taken_at
"""


def recent(tweet_ids: Iterable[int], *, most: int) -> dict[int, list[Run]]:
    """The newest `most` runs of each tweet in the order they were taken; one query for all."""
    found: dict[int, list[Run]] = {}
    with cursor() as db:
        for row in db.execute(RECENT, {"ids": list(tweet_ids), "most": most}):
            found.setdefault(row[0], []).append(Run(*row))
    return found


def since(tweet_id: int, at: datetime | None) -> list[Run]:
    """The runs of one tweet that reach beyond `at`; None: all of them."""
    with cursor() as db:
        return [
            Run(*row) for row in db.execute(SINCE, {"id": tweet_id, "since": at or "-infinity"})
        ]


def holes(runs: Sequence[Run], usual: Usual) -> frozenset[int]:
    """The places of the runs before which there is a hole.

    A hole is longer than twice the interval of that age, and than twice what was the step just
    before it: an interval that was changed since then leaves no holes in the past.
    """
    found: set[int] = set()
    steps: list[timedelta] = []
    for place in range(1, len(runs)):
        before = runs[place - 1]
        step = runs[place].taken_at - before.measured_until
        if before.measurements > 1:
            held = before.measured_until - before.taken_at
            steps.append(held / (before.measurements - 1))
        if step > 2 * longest(usual(before.measured_until), steps[-STEPS_BEFORE:]):
            found.add(place)
        else:
            steps.append(step)
    return frozenset(found)


def longest(every: timedelta | None, steps: Sequence[timedelta]) -> timedelta:
    known = [every] if every is not None else []
    if steps:
        known.append(sorted(steps)[len(steps) // 2])
    return max(known, default=timedelta.max / 4)
