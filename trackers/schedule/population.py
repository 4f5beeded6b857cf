"""The tweets of adapting intervals, by age and pace: from a sample, as no page counts them all.

Ids carry their time, so those of an interval are one range of the primary key. A few tweets are
read at each of some random places in it: as much work for a thousand tweets as for ten million.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from trackers.schedule.adapt import Bounds
from trackers.schedule.intervals import Plan
from trackers.schedule.stretch.solve import Group
from trackers.tweets.snowflake import first_id_at
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

PLACES, TWEETS_A_PLACE = 50, 100

_SAMPLE = statement(__file__, "sample", tweets_a_place=TWEETS_A_PLACE)


def groups(plan: Plan, counts: Sequence[int], *, now: datetime) -> list[Group]:
    """All scheduled tweets; `counts` says how many there are in each tier, youngest first."""
    fixed = [
        Group(many, 0, 0, None, tier.every.total_seconds())
        for tier, many in zip(plan.tiers, counts, strict=True)
        if tier.bounds is None
    ]
    return [*fixed, *_adapting(plan, counts, now=now)]


def _adapting(plan: Plan, counts: Sequence[int], *, now: datetime) -> Iterator[Group]:
    for place, sampled in sample(plan, now=now).items():
        each = counts[place] / sum(group.tweets for group in sampled)
        yield from (group._replace(tweets=group.tweets * each) for group in sampled)


def sample(plan: Plan, *, now: datetime) -> dict[int, list[Group]]:
    """The tweets that were read, by tier (from 0); only tiers that adapt and have tweets."""
    places = list(chosen_places(plan, now=now))
    if not places:
        return {}
    tiers, first, below = zip(*places, strict=True)
    params = {"now": now, "tiers": array(tiers), "from": array(first), "below": array(below)}
    groups_by_tier: dict[int, list[Group]] = {}
    with cursor() as db:
        for place, many, age, growth in db.execute(_SAMPLE, params):
            bounds = plan.tiers[place].bounds
            groups_by_tier.setdefault(place, []).append(Group(many, age, growth / age, bounds))
    return groups_by_tier


def chosen_places(plan: Plan, *, now: datetime) -> Iterator[tuple[int, int, int]]:
    """Stretches of ids that do not overlap: tier (from 0), first id, and the id after the last."""
    younger = timedelta(0)
    for place, tier in enumerate(plan.tiers):
        if isinstance(tier.bounds, Bounds):
            least, most = (
                first_id_at(int((now - age).timestamp() * 1000))
                for age in (tier.younger_than, younger)
            )
            most = max(most, least + 1)
            cuts = sorted({least, *(random.randrange(least, most) for _ in range(PLACES - 1))})
            for first, below in zip(cuts, [*cuts[1:], most], strict=True):
                yield place, first, below
        younger = tier.younger_than
