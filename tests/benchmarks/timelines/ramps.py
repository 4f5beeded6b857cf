"""How a page's time grows with what is followed, and a delivery's with who follows: 1 to 1,024."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import median

from django.db import transaction

from tests.benchmarks.timelines.turns import in_turns
from tests.benchmarks.timelines.world import CROWDED, follow_only, lay_out, new_tweets
from tests.timelines.homes.large_homes import SOURCES
from trackers.timelines import homes
from trackers.timelines.homes.built import Built
from trackers.timelines.homes.strategies import all_strategies
from trackers.timelines.settings import home_settings
from tweetwatch.database import cursor

Acts = dict[tuple[str, int], Callable[[], object]]

# Spread over all sources, of which a few bring most of the tweets.
UNFOLLOW = "DELETE FROM trackers_follow WHERE follower_id = %(follower)s"
FOLLOW = """
    INSERT INTO trackers_follow (follower_id, origin_id, followed_at)
    SELECT %(follower)s, 1 + n * %(sources)s::int / %(many)s::int, now()
    FROM generate_series(0, %(many)s::int - 1) n
"""
ORIGINS = """
    INSERT INTO trackers_origin (id, clock)
    SELECT origin_id, 0 FROM trackers_follow WHERE follower_id = %(follower)s
    ON CONFLICT DO NOTHING
"""


def main(*, steps: int, rounds: int) -> None:
    numbers = [2**step for step in range(steps)]
    report = {
        "numbers": numbers,
        "reads": curves(in_turns(reading(numbers), rounds=rounds)),
        "delivers": curves(in_turns(delivering(numbers, rounds), rounds=rounds)),
    }
    print(json.dumps(report))


def curves(took: Mapping[tuple[str, int], Sequence[float]]) -> dict[str, list[float]]:
    """Of each strategy the medians, number by number."""
    found: dict[str, list[float]] = {}
    for (key, _), values in took.items():
        found.setdefault(key, []).append(median(values))
    return found


def reading(numbers: Sequence[int]) -> Acts:
    """All steps take turns: of a machine that others use too no step has the worst hour."""
    known = homes.strategies()
    for reader, many in enumerate(numbers, 1):
        follow(reader, many)
        lay_out([reader])
    return {
        (key, many): partial(one.page, reader)
        for key, one in known.items()
        for reader, many in enumerate(numbers, 1)
    }


def follow(reader: int, many: int) -> None:
    with cursor() as db:
        db.execute(UNFOLLOW, {"follower": reader})
        db.execute(FOLLOW, {"follower": reader, "many": many, "sources": SOURCES})
        db.execute(ORIGINS, {"follower": reader})


def delivering(numbers: Sequence[int], rounds: int) -> Acts:
    """One tweet of a source that so many follow, newer than all that were delivered before."""
    strategies = all_strategies(home_settings())
    fresh = iter(new_tweets((rounds + 1) * len(numbers) * len(strategies)))
    for nth, many in enumerate(numbers, 1):
        follow_only(CROWDED - nth, many)
    return {
        (one.key, many): partial(deliver, one, CROWDED - nth, fresh)
        for one in strategies
        for nth, many in enumerate(numbers, 1)
    }


def deliver(one: Built, origin: int, fresh: Iterator[int]) -> None:
    with transaction.atomic():
        one.deliver(origin, [next(fresh)], reach=None)
