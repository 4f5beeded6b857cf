"""Why the tweet's next check is when it is, by the rule that decided it, and why it is late."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime
from math import isfinite

from django.db.models import F, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from trackers.dashboards.notices import why_idle
from trackers.dashboards.tweet_rows import row_version
from trackers.dashboards.words import OVERDUE_AFTER
from trackers.jobs import queue
from trackers.schedule.explanation import (
    DAY_START,
    EVENING_RELEASE,
    NOT_STRETCHED,
    TOMORROW,
    ExplainedWait,
    StretchesThen,
    explain_wait,
)
from trackers.schedule.intervals import Plan
from trackers.schedule.models import Stretch, StretchMinute
from trackers.schedule.stretch.words import room as room_for
from trackers.tweets.models import Tweet
from trackers.tweets.pace import strangers_pace
from trackers.updater.models import TweetUpdate
from trackers.updater.states import TweetState, tweet_state

_NOON = 12
# Stretches that differ by no more than this factor are told as one.
_ALIKE = 1.1


def explain_next_check(
    tweet: Tweet, due_at: datetime | None, plan: Plan, *, now: datetime, waits_for_money: bool
) -> str:
    """Empty where the intervals do not decide: not measured yet, missing, not scheduled."""
    if due_at is not None and waits_for_money:
        return _explain_money(due_at.astimezone(UTC), now=now.astimezone(UTC))
    measured = tweet.measured_until
    if due_at is None or measured is None or tweet.created_at is None:
        return ""
    if tweet.missing_since or tweet.unreadable_since:
        return ""
    tier = plan.tier(tweet.created_at, now=measured)
    if tier is None:
        return ""
    age = (measured - tweet.created_at).total_seconds()
    pace = tweet.pace
    if pace is None or not isfinite(pace) or pace < 0:
        pace = strangers_pace(max(age, 1.0))
    waiting = ExplainedWait(age, pace, (due_at - measured).total_seconds(), measured.timestamp())
    return explain_wait(tier, waiting, room=_room_at(measured) if tier.bounds else NOT_STRETCHED)


def _explain_money(due_at: datetime, *, now: datetime) -> str:
    """Which money it waits for; both times in UTC, as X's days are."""
    if due_at.date() > now.date():
        return TOMORROW
    # By `reserve`, they come in the evening, or soon after midnight.
    return EVENING_RELEASE if due_at.hour >= _NOON else DAY_START


def _room_at(at: datetime) -> StretchesThen:
    """What X's windows and the budgets had room for `at` the time, or else have now.

    The stretches of a day are known. Shares are not kept: those of now are given where the stretch
    is about what it was.
    """
    then = StretchMinute.objects.filter(minute__lte=at).order_by("-minute")
    row = Stretch.objects.annotate(
        windows_then=Coalesce(Subquery(then.values("windows")[:1]), F("windows")),
        money_then=Coalesce(Subquery(then.values("money")[:1]), F("money")),
    ).first()
    if row is None:
        return NOT_STRETCHED
    lookups = room_for(row)
    days = (
        row.days_room / row.days_demand if row.days_room is not None and row.days_demand else None
    )
    return StretchesThen(
        row.windows_then,
        row.money_then,
        # With room for all there is a stretch to make up for a backlog.
        lookups if lookups and lookups < 1 and _are_alike(row.windows, row.windows_then) else None,
        days if _are_alike(row.money, row.money_then) else None,
    )


def _are_alike(first: float, second: float) -> bool:
    return max(first, second) <= _ALIKE * min(first, second)


def why_late(due_at: datetime | None, state: TweetState, *, now: datetime) -> str:
    """Empty if it is not late. One that waits for money says so itself."""
    if due_at is None or not state.is_scheduled or state.name == "no_money":
        return ""
    return why_idle(now=now) if now - due_at >= OVERDUE_AFTER else ""


def version_mark(why: str) -> str:
    """What it adds to the version: the reason comes and goes while the tweet stays as it is."""
    return f"{zlib.crc32(why.encode()):08x}" if why else ""


def version_now(tweet: Tweet) -> str:
    text = getattr(tweet, "tweettext", None)
    job = TweetUpdate.objects.filter(pk=tweet.pk).first()
    claimed_until = queue.claims(TweetUpdate.queue, [tweet.pk]).get(tweet.pk)
    why = why_late(job.due_at, tweet_state(tweet, job), now=timezone.now()) if job else ""
    return row_version(tweet, job, text and text.text, claimed_until) + version_mark(why)
