"""What becomes of each tweet of an answered batch: a pure choice, with `now` passed in.

answer of X + plan + what we knew of the missing ones ─> one `Verdict` per tweet
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from trackers.schedule.intervals import Plan, Tier, jittered
from trackers.updater.known import NOTHING, Known
from trackers.xapi.answers import Figures, Lookup, Post

# An id that X left out, or told something broken of, is asked again after this.
ASK_AGAIN = timedelta(seconds=30)


# X once said of tweets that were there that they were not, for eight hours. When it says so of so
# many at once, and of most of a batch, they are looked at again and again until it has said so for
# a whole day.
BURST = 10
BELIEVE_AFTER = timedelta(days=1)
LOOK_AGAIN = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Rules:
    """The knobs of the choice."""

    plan: Plan
    confirm_gone_after: timedelta
    gone_every: timedelta


class Verdict(NamedTuple):
    """One tweet's outcome. `due_in` None: its cycle is over, it rests."""

    tweet_id: int
    due_in: timedelta | None
    figures: Figures | None = None
    hole_after: timedelta | None = None
    missing: str = ""
    gone: bool = False


def verdicts(
    ids: Sequence[int], answer: Lookup, known: Mapping[int, Known], rules: Rules, *, now: datetime
) -> Iterator[Verdict]:
    """A verdict for each id that was asked, in their order."""
    if doubtful(ids, answer, known):
        rules = replace(rules, confirm_gone_after=max(BELIEVE_AFTER, rules.confirm_gone_after))
    for id in ids:
        if post := answer.posts.get(id):
            yield measured(post, known.get(id, NOTHING), rules, now=now)
        elif reason := answer.missing.get(id):
            yield missing(id, reason, known.get(id, NOTHING), rules, now=now)
        else:
            yield Verdict(id, due_in=ASK_AGAIN)


def doubtful(ids: Iterable[int], answer: Lookup, known: Mapping[int, Known]) -> bool:
    """Whether most of those that X showed until now are said to be not found, all at once."""
    shown = [id for id in ids if (tweet := known.get(id)) and tweet.measured and not tweet.gone]
    lost = sum(answer.missing.get(id) == "not_found" for id in shown)
    return lost >= BURST and lost * 2 > len(shown)


def measured(post: Post, known: Known, rules: Rules, *, now: datetime) -> Verdict:
    tier = rules.plan.tier(post.created_at or known.created_at, now=now)
    due_in = jittered(tier) if tier else None
    return Verdict(post.id, due_in, post.figures, hole_after(tier, rules.plan))


def missing(id: int, reason: str, known: Known, rules: Rules, *, now: datetime) -> Verdict:
    """Not found is a claim to confirm: gone only when a second look, a while later, says so too."""
    waited = now - known.missing_since if known.missing_since else timedelta(0)
    if not known.gone and (known.missing_since is None or waited < rules.confirm_gone_after):
        left = rules.confirm_gone_after - waited
        return Verdict(id, due_in=min(left, LOOK_AGAIN), missing=reason)
    # One that comes back is seen at this slower pace, as long as its age would have it looked at.
    watched = rules.plan.tier(known.created_at, now=now)
    return Verdict(id, due_in=rules.gone_every if watched else None, missing=reason, gone=True)


def hole_after(tier: Tier | None, plan: Plan) -> timedelta | None:
    """Twice the interval. The last look of a cycle has the last tier's."""
    tier = tier or (plan.tiers[-1] if plan.tiers else None)
    return tier.every * 2 if tier else None
