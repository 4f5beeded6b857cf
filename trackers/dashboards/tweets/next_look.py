"""Why the tweet's next look is when it is, according to the rule that decided it."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite

from trackers.schedule.intervals import Plan
from trackers.schedule.models import Stretch
from trackers.schedule.why import EVENING, NO_LIMIT, TOMORROW, Room, Waiting, why
from trackers.tweets.models import Tweet
from trackers.tweets.pace import strangers_pace


def reason(
    tweet: Tweet, due_at: datetime | None, plan: Plan, *, now: datetime, waits_for_money: bool
) -> str:
    """Empty where the intervals do not decide: not measured yet, missing, not scheduled."""
    if due_at is not None and waits_for_money:
        return TOMORROW if due_at.astimezone(UTC).date() > now.astimezone(UTC).date() else EVENING
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
    waiting = Waiting(age, pace, (due_at - measured).total_seconds(), measured.timestamp())
    return why(tier, waiting, room=room() if tier.bounds else NO_LIMIT)


def room() -> Room:
    """What X's windows and the budgets have room for."""
    row = Stretch.objects.first()
    if row is None:
        return NO_LIMIT
    return Room(
        row.room / row.demand if row.room and row.demand else None,
        row.days_room / row.days_demand if row.days_room is not None and row.days_demand else None,
    )
