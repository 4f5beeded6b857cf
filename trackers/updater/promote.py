"""What becomes of each tweet of an answered batch: a pure choice, with `now` passed in.

answer of X + plan + what we knew of the missing ones ─> one `Verdict` per tweet
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.schedule.intervals import Plan, Tier, jittered
from trackers.xapi.answers import Figures, Lookup, Post

# An id that X left out, or told something broken of, is asked again after this.
ASK_AGAIN = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Rules:
    """The knobs of the choice."""

    plan: Plan
    confirm_gone_after: timedelta
    gone_every: timedelta


@dataclass(frozen=True, slots=True)
class Known:
    """What the rows say of a tweet that X shows no longer, or whose birth it did not tell."""

    created_at: datetime | None = None
    missing_since: datetime | None = None
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """One tweet's outcome. `due_in` None: its cycle is over, it rests."""

    tweet_id: int
    due_in: timedelta | None
    figures: Figures | None = None
    hole_after: timedelta | None = None
    missing: str = ""
    gone: bool = False


NOTHING = Known()


def verdicts(
    ids: Iterable[int], answer: Lookup, known: Mapping[int, Known], rules: Rules, *, now: datetime
) -> Iterator[Verdict]:
    """A verdict for each id that was asked, in their order."""
    for id in ids:
        if post := answer.posts.get(id):
            yield measured(post, known.get(id, NOTHING), rules, now=now)
        elif reason := answer.missing.get(id):
            yield missing(id, reason, known.get(id, NOTHING), rules, now=now)
        else:
            yield Verdict(id, due_in=ASK_AGAIN)


def measured(post: Post, known: Known, rules: Rules, *, now: datetime) -> Verdict:
    tier = rules.plan.tier(post.created_at or known.created_at, now=now)
    return Verdict(
        post.id,
        due_in=jittered(tier) if tier else None,
        figures=post.figures,
        hole_after=hole_after(tier, rules.plan),
    )


def missing(id: int, reason: str, known: Known, rules: Rules, *, now: datetime) -> Verdict:
    """Not found is a claim to confirm: gone only when a second look, a while later, says so too."""
    if known.missing_since is None:
        return Verdict(id, due_in=rules.confirm_gone_after, missing=reason)
    waited = now - known.missing_since
    if not known.gone and waited < rules.confirm_gone_after:
        return Verdict(id, due_in=rules.confirm_gone_after - waited, missing=reason)
    # One that comes back is seen at this slower pace, as long as its age would have it looked at.
    watched = rules.plan.tier(known.created_at, now=now)
    return Verdict(id, due_in=rules.gone_every if watched else None, missing=reason, gone=True)


def hole_after(tier: Tier | None, plan: Plan) -> timedelta | None:
    """Twice the interval. The last look of a cycle has the last tier's."""
    tier = tier or (plan.tiers[-1] if plan.tiers else None)
    return tier.every * 2 if tier else None
