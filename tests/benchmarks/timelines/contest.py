"""Ours and the rivals that are installed, in turn."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import cycle

from tests.benchmarks.timelines import redis_server
from tests.benchmarks.timelines.rivals import (
    Activities,
    Contender,
    Ours,
    Redis,
    Rows,
    has_activities,
)
from tests.benchmarks.timelines.turns import in_turns
from tests.benchmarks.timelines.world import CROWDED, new_tweets
from tweetwatch.database import cursor

TWEETS = 20
BUILT = ("cache", "sized", "timed")


def main(*, readers: list[int], rounds: int) -> None:
    left_out = []
    with ExitStack() as stack:
        contenders: dict[str, Contender] = {key: Ours(key) for key in ("read", *BUILT)}
        contenders["rows"] = Rows()
        if missing := redis_server.missing():
            left_out.append(f"Redis is left out: {missing}")
        else:
            contenders["redis"] = Redis(stack.enter_context(redis_server.running()))
        if has_activities():
            contenders["activity-stream"] = Activities()
        else:
            left_out.append(
                "django-activity-stream is left out: pip install django-activity-stream"
            )
        with cursor() as db:
            db.execute("VACUUM ANALYZE", prepare=False)
        compare(contenders, readers)
        reads = in_turns(
            {name: partial(next, acts(one, readers)) for name, one in contenders.items()},
            rounds=rounds * len(readers),
        )
        # Reads deliver nothing.
        del contenders["read"]
        delivers = {}
        for tweets in (1, TWEETS):
            acts_of = {name: deliver(one, tweets, rounds) for name, one in contenders.items()}
            delivers[tweets] = in_turns(acts_of, rounds=rounds)
    report = {
        "reads": reads,
        "delivers one": delivers[1],
        f"delivers {TWEETS}": delivers[TWEETS],
        "left_out": left_out,
    }
    print(json.dumps(report))


def compare(contenders: dict[str, Contender], readers: list[int]) -> None:
    """What is timed is the same work: the same page, but for what Redis has of those gone."""
    for me in readers:
        ours = contenders["cache"].page(me)
        if len(ours) < 50 or contenders["rows"].page(me) != ours:
            raise RuntimeError(f"The home of {me} is not the same as rows.")
        if "redis" in contenders and len(set(contenders["redis"].page(me)) & set(ours)) < 25:
            raise RuntimeError(f"The home of {me} is not the same in Redis.")


def acts(one: Contender, readers: list[int]) -> Iterator[list[int]]:
    return (one.page(me) for me in cycle(readers))


def deliver(contender: Contender, tweets: int, rounds: int) -> Callable[[], None]:
    fresh = iter(new_tweets(tweets * (rounds + 1)))

    def act() -> None:
        contender.deliver(CROWDED, [next(fresh) for _ in range(tweets)])

    return act
