"""Mutes: for an hour or a day nobody is sent what a rule raises, or what any rule raises about a
tweet. The log and events go on."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from trackers.alerts.models import AlertMute, AlertRule
from trackers.roles import Person

HOURS = (1, 24)


def mute_rule(rule: AlertRule, *, hours: int, now: datetime) -> None:
    until = now + timedelta(hours=hours)
    AlertMute.objects.update_or_create(rule=rule, defaults={"until": until})


def mute_tweet(tweet: int, *, hours: int, now: datetime) -> None:
    until = now + timedelta(hours=hours)
    AlertMute.objects.update_or_create(tweet=tweet, defaults={"until": until})


def end_mute(rule: AlertRule) -> bool:
    """Whether there was one."""
    return bool(AlertMute.objects.filter(rule=rule).delete()[0])


def mutes_now(person: Person, *, now: datetime) -> QuerySet[AlertMute]:
    """What is muted, as far as this person sees it; the first to end first."""
    seen = Q(rule=None) | Q(rule__in=AlertRule.objects.seen_by(person))
    muted = AlertMute.objects.filter(seen, until__gt=now)
    return muted.select_related("rule__owner").order_by("until", "pk")


def muted_until(rule: AlertRule, *, now: datetime) -> datetime | None:
    return (
        AlertMute.objects.filter(rule=rule, until__gt=now).values_list("until", flat=True).first()
    )


def muted_tweets(tweets: Iterable[int], *, now: datetime) -> set[int]:
    muted = AlertMute.objects.filter(tweet__in=list(tweets), until__gt=now)
    return {tweet for tweet in muted.values_list("tweet", flat=True) if tweet is not None}


def prune_mutes(*, now: datetime) -> None:
    AlertMute.objects.filter(until__lte=now).delete()
