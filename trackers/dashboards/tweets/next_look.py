"""Why the tweet is looked at next when it is, as the rule that decided it says."""

from __future__ import annotations

from datetime import datetime
from math import isfinite

from trackers.schedule.intervals import Plan
from trackers.schedule.models import Stretch
from trackers.schedule.why import Waiting, why
from trackers.tweets.models import Tweet
from trackers.tweets.pace import strangers_pace


def reason(tweet: Tweet, due_at: datetime | None, plan: Plan) -> str:
    """Empty where the intervals do not decide: not measured yet, missing, not scheduled."""
    measured = tweet.measured_until
    if due_at is None or measured is None or tweet.created_at is None:
        return ""
    if tweet.missing_since or tweet.unclear_since:
        return ""
    tier = plan.tier(tweet.created_at, now=measured)
    if tier is None:
        return ""
    age = (measured - tweet.created_at).total_seconds()
    pace = tweet.pace
    if pace is None or not isfinite(pace) or pace < 0:
        pace = strangers_pace(max(age, 1.0))
    waiting = Waiting(age, pace, (due_at - measured).total_seconds())
    return why(tier, waiting, room=room() if tier.bounds else None)


def room() -> float | None:
    """The share of all looks that X's windows have room for; None: not known."""
    row = Stretch.objects.first()
    return row.room / row.demand if row and row.room and row.demand else None
