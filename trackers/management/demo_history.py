"""The demo's past: what a week of look-ups would have stored, so that its pages have a history.

The figures of the fake X depend on a tweet's age alone. So those of last week can be worked out,
and recorded as if they had been looked up then. What the fake answers from now on continues them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import zip_longest

from fakex.world.seeded import World
from fakex.world.traits import DELETED, TROUBLED, Traits
from trackers.schedule.intervals import Plan
from trackers.tweets.models import Author, Tweet
from trackers.tweets.record import Measured, record
from trackers.xapi.results import Figures

WEEK = timedelta(days=7)
_TWEETS_PER_WRITE = 1_000


def record_past_week(world: World, tweet_ids: Sequence[int], plan: Plan, *, now: datetime) -> int:
    """Record the past of these tracked, not yet measured tweets; return how many look-ups."""
    tweets = [tweet for id in tweet_ids if (tweet := world.traits(id)) and _is_shown(tweet)]
    known = [(tweet, times) for tweet in tweets if (times := _lookup_times(tweet, plan, now=now))]
    pasts = [[_measurement_at(world, tweet, plan, at=at) for at in times] for tweet, times in known]
    authors = {tweet.author: Author(id=world.people[tweet.author].id) for tweet, _ in known}
    # Their names come with the task that asks X for new ones.
    Author.objects.bulk_create(authors.values(), ignore_conflicts=True)
    # Without `created_at`, by which the first look-up sees that it has to store the text.
    Tweet.objects.bulk_update(
        [
            Tweet(id=tweet.id, tracked_at=times[0], author=authors[tweet.author])
            for tweet, times in known
        ],
        ["tracked_at", "author"],
        batch_size=_TWEETS_PER_WRITE,
    )
    for measured in _in_rounds(pasts):
        record(measured)
    return sum(map(len, pasts))


def _is_shown(tweet: Traits) -> bool:
    """Some authors are protected or suspended: about those only the fake itself answers."""
    return not tweet.flags & TROUBLED


def posted_at(tweet: Traits) -> datetime:
    return datetime.fromtimestamp(tweet.born_ms / 1000, UTC)


def _lookup_times(tweet: Traits, plan: Plan, *, now: datetime) -> list[datetime]:
    """When it was looked up by the plan in the last week, oldest first; not after its deletion."""
    begins, ends = max(posted_at(tweet), now - WEEK), now
    if tweet.flags & DELETED:
        ends = min(ends, posted_at(tweet) + timedelta(milliseconds=tweet.turn_ms))
    times: list[datetime] = []
    at = now
    while tier := plan.tier(posted_at(tweet), now=at):
        at -= tier.every
        if at <= begins:
            break
        if at < ends:
            times.append(at)
    return times[::-1]


def _measurement_at(world: World, tweet: Traits, plan: Plan, *, at: datetime) -> Measured:
    tier = plan.tier(posted_at(tweet), now=at)
    figures = world.count(tweet, (at - posted_at(tweet)) / timedelta(milliseconds=1))
    return Measured(tweet.id, at, Figures(*figures), 2 * tier.every if tier else None)


def _in_rounds(pasts: Sequence[Sequence[Measured]]) -> Iterator[list[Measured]]:
    """The first look-up of each tweet, then the second one, and so on, a thousand at once."""
    for places in zip_longest(*pasts):
        of_round = [one for one in places if one is not None]
        for begin in range(0, len(of_round), _TWEETS_PER_WRITE):
            yield of_round[begin : begin + _TWEETS_PER_WRITE]
