"""What a forecast begins with: the tweets, the rules, what comes, and the room in X's windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from trackers.credentials import sentences
from trackers.forecasts.day import Known
from trackers.forecasts.population import population
from trackers.forecasts.walk import interval_rows
from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.schedule.capacity import capacity
from trackers.schedule.catch_up import NO_USABLE_CREDENTIAL
from trackers.schedule.intervals import Plan

PAUSED = "The queue of tweets is paused."
NO_WINDOWS = "X has not reported its rate limits yet: this is what the intervals ask for."


def read_known(
    plan: Plan,
    sample: Mapping[str, int],
    *,
    now: datetime,
    gone_every: timedelta,
    finely: timedelta = timedelta(0),
) -> tuple[Known | None, str]:
    """A forecast's input, without money, and what is unknown; None when no forecast is possible.
    `finely`: for how long due times matter to the minute."""
    queue = Queue.objects.get(pk=TWEET_UPDATE)
    room = capacity(queue.request_keys)
    if queue.paused:
        return None, PAUSED
    if not room.usable:
        return None, sentences.nobody_may_ask() or NO_USABLE_CREDENTIAL
    asked = read_asked(plan, sample, now=now, gone_every=gone_every, finely=finely)
    known = replace(asked, stretch=plan.stretch, day_stretch=plan.day_stretch, room=room.windows)
    return known, "" if room.windows is not None else NO_WINDOWS


def read_asked(
    plan: Plan,
    sample: Mapping[str, int],
    *,
    now: datetime,
    gone_every: timedelta,
    finely: timedelta = timedelta(0),
) -> Known:
    """The same as if nothing limited it: what the intervals ask for."""
    tweets = population(
        sample,
        now=now,
        day=now.astimezone(UTC).date(),
        lasts=plan.tiers[-1].younger_than,
        finely=finely,
    )
    return Known(
        tweets.cells,
        interval_rows(plan),
        tweets.arrivals,
        gone_every=gone_every.total_seconds(),
    )
