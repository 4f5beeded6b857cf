"""The verdict on each tweet of an answered batch: a pure decision, with `now` passed in.

X's answer + plan + what was known of each tweet ─> one `Verdict` per tweet
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from trackers.schedule.intervals import Plan, Tier, jittered
from trackers.tweets.snowflake import born_at
from trackers.updater.before import NO_PRIOR, Prior
from trackers.xapi.results import Figures, Lookup, Post

# A tweet that X left out, or whose answer is unreadable, is requested again after this, and then by
# its age, but ever more rarely: after as long as that has lasted, at most as rarely as a gone one.
# Otherwise a hundred thousand of them would take every request.
ASK_AGAIN = timedelta(seconds=30)

# X once reported existing tweets as not found, for eight hours. When it does so, or leaves them
# out, for at least BURST tweets and most of a batch, they are looked up repeatedly until that has
# lasted for a day.
_BURST_TWEETS = 10
_BELIEVE_AFTER = timedelta(days=1)
_LOOK_AGAIN = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class CheckRules:
    """The settings that the verdicts depend on."""

    plan: Plan
    confirm_gone_after: timedelta
    gone_every: timedelta


class Verdict(NamedTuple):
    """One tweet's outcome."""

    tweet_id: int
    due_in: timedelta | None  # None: its look-ups are over
    figures: Figures | None = None
    hole_after: timedelta | None = None
    missing: str = ""
    gone: bool = False
    # Why its metrics could not be read, though X showed and billed it. Neither `figures` nor
    # `missing` nor `broken`: X said nothing about it.
    broken: str = ""
    urgent: bool = False


def reach_verdicts(
    ids: Sequence[int],
    answer: Lookup,
    prior: Mapping[int, Prior],
    rules: CheckRules,
    *,
    now: datetime,
) -> Iterator[Verdict]:
    """A verdict for each id, in the same order."""
    shown_before = [
        id for id in ids if (tweet := prior.get(id)) and tweet.measured and not tweet.gone
    ]
    if _are_most(shown_before, [answer.missing.get(id) == "not_found" for id in shown_before]):
        rules = replace(rules, confirm_gone_after=max(_BELIEVE_AFTER, rules.confirm_gone_after))
    are_left_out = _are_most(
        shown_before, [id not in answer.posts and id not in answer.missing for id in shown_before]
    )
    for id in ids:
        known, post = prior.get(id, NO_PRIOR), answer.posts.get(id)
        # The first version's time: an edit does not make a tweet younger. If neither we nor X have
        # the time, the id has it as well.
        created_at = known.created_at or (post and post.created_at) or born_at(id)
        tier = rules.plan.tier(created_at, now=now)
        if post:
            yield _judge_measured(id, post, known, rules, tier)
        elif reason := answer.missing.get(id):
            yield _judge_missing(id, reason, known, rules, tier, now=now)
        else:
            waited = now - (known.unreadable_since or now)
            if are_left_out and waited < _BELIEVE_AFTER:
                waited = timedelta(0)
            broken = answer.broken.get(id, "")
            yield _judge_unreadable(id, broken, known, rules, tier, waited=waited)


def _are_most(shown_before: Sequence[int], are_lost: Sequence[bool]) -> bool:
    """Whether X suddenly fails to show most of the tweets that it used to show."""
    lost = sum(are_lost)
    return lost >= _BURST_TWEETS and lost * 2 > len(shown_before)


def _judge_measured(
    id: int, post: Post, prior: Prior, rules: CheckRules, tier: Tier | None
) -> Verdict:
    # Where the interval adapts, this is the longest wait: the save knows the earlier metrics, and
    # shortens it.
    due_in = jittered(tier, tier.longest(rules.plan.stretch)) if tier else None
    if len(post.edit_history) > 1 and _has_newer(id, post, prior):
        due_in = min(ASK_AGAIN, due_in or ASK_AGAIN)
    return Verdict(
        id,
        due_in,
        post.figures,
        rules.plan.hole_after(tier),
        urgent=rules.plan.is_urgent(tier),
    )


def _has_newer(id: int, post: Post, prior: Prior) -> bool:
    """Whether X names, for the first time, a newer version than the one that it shows."""
    return post.edit_history[-1] > max(post.id, prior.newest or id)


def _judge_missing(
    id: int, reason: str, prior: Prior, rules: CheckRules, tier: Tier | None, *, now: datetime
) -> Verdict:
    """The verdict if X did not find it. It counts as gone once a later look-up confirms this."""
    waited = now - prior.missing_since if prior.missing_since else timedelta(0)
    if not prior.gone and (prior.missing_since is None or waited < rules.confirm_gone_after):
        left = rules.confirm_gone_after - waited
        return Verdict(id, due_in=min(left, _LOOK_AGAIN), missing=reason)
    # Until it is too old it is still checked, less often, in case it comes back; one that X never
    # showed is not.
    watched = tier and prior.created_at
    return Verdict(id, due_in=rules.gone_every if watched else None, missing=reason, gone=True)


def _judge_unreadable(
    id: int, broken: str, prior: Prior, rules: CheckRules, tier: Tier | None, *, waited: timedelta
) -> Verdict:
    """Ask again once soon, then by its age, ever more rarely. Look-ups end only with a readable
    answer. `waited`: how long it has been so."""
    usual = tier or (rules.plan.tiers[-1] if rules.plan.tiers else None)
    by_age = jittered(usual, usual.longest()) if usual else rules.gone_every
    rarely = max(by_age, min(waited, rules.gone_every))
    due_in = rarely if prior.unreadable else min(ASK_AGAIN, by_age)
    return Verdict(id, due_in, broken=broken, urgent=rules.plan.is_urgent(tier))
