"""Twenty tweets of a source into the homes of its readers: in one go, and one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial

from django.db import transaction

from tests.benchmarks.timelines.turns import in_turns
from tests.benchmarks.timelines.world import CROWDED, new_tweets
from trackers.timelines.homes.built import Built
from trackers.timelines.homes.strategies import all_strategies
from trackers.timelines.settings import home_settings

TWEETS = 20


def main(*, rounds: int) -> None:
    acts = {}
    for strategy in all_strategies(home_settings()):
        # Each its own, in the order in which they came.
        fresh = iter(new_tweets(2 * TWEETS * (rounds + 1)))
        acts[f"{strategy.key}: in one go"] = partial(in_one_go, strategy, fresh)
        acts[f"{strategy.key}: one by one"] = partial(one_by_one, strategy, fresh)
    print(json.dumps(in_turns(acts, rounds=rounds)))


def in_one_go(one: Built, fresh: Iterator[int]) -> None:
    ids = [next(fresh) for _ in range(TWEETS)]
    with transaction.atomic():
        one.deliver(CROWDED, ids, reach=None)


def one_by_one(one: Built, fresh: Iterator[int]) -> None:
    for id in [next(fresh) for _ in range(TWEETS)]:
        with transaction.atomic():
            one.deliver(CROWDED, [id], reach=None)
