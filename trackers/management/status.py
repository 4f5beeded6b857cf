"""The figures of `manage.py status`, as one object for JSON."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from trackers.credentials.models import Credential
from trackers.events.live.open import streams
from trackers.events.minutes import Hour, hours_of_topics
from trackers.events.subscribers.listing import described
from trackers.events.subscribers.standings import staged, topics
from trackers.events.subscribers.standings import standings as standings_of_subscribers
from trackers.forecasts import told as forecasts
from trackers.forecasts.models import ForecastDay
from trackers.ingest.sources.models import Source, Stream
from trackers.ingest.sources.standing import Standing, standings
from trackers.jobs.figures import figures
from trackers.jobs.horizon import horizon
from trackers.jobs.models import Namespace, Worker
from trackers.jobs.pausing import PausedAll, paused_all
from trackers.jobs.queue import namespaces
from trackers.money.books import Books, books
from trackers.schedule import intervals
from trackers.schedule.census import census
from trackers.schedule.forecast import forecast
from trackers.schedule.intervals import Plan
from trackers.schedule.models import Stretch
from trackers.schedule.namespace import TWEET_UPDATE
from trackers.schedule.stretch_words import room, sentences
from trackers.schedule.stretched import by_time
from trackers.timelines.figures import Timelines
from trackers.timelines.figures import timelines as timelines_now
from tweetwatch import VERSION
from tweetwatch.clock_times import iso


def status() -> dict[str, Any]:
    """Shapes and names are public (docs/commands.md). Times are ISO 8601 in UTC."""
    now, plan = intervals.current()
    tweets, queue = census(plan, now=now), figures(TWEET_UPDATE)
    ahead = forecast(plan, queue, now=now)
    of_project = {one.project.pk: one for one in books()}
    return {
        "version": VERSION,
        "taken_at": iso(min(tweets.taken_at, queue.counted_at or queue.taken_at)),
        "paused": paused(paused_all()),
        "tracked": tweets.tracked,
        # Every tracked tweet has a row in the queue, or rests, or was paused. At least 0, because
        # they are not counted at the same moment.
        "resting": max(0, tweets.tracked - queue.scheduled - tweets.paused),
        "due": queue.due,
        "oldest_due_seconds": queue.oldest_due_seconds,
        "oldest_urgent_seconds": queue.oldest_urgent_seconds,
        "in_flight": queue.in_flight,
        "checked_last_minute": queue.checked_last_minute,
        "lateness_p50_seconds": queue.lateness_p50_seconds,
        "lateness_p99_seconds": queue.lateness_p99_seconds,
        "batch_fill": queue.batch_fill,
        "catch_up_seconds": seconds(ahead.length),
        "oldest_snapshot_seconds": horizon().seconds,
        "isolated": queue.isolated,
        "gone": tweets.gone,
        "unclear": tweets.unclear,
        "days": days(now=now),
        "stretch": stretch(plan),
        "namespaces": [namespace(one, now=now) for one in Namespace.objects.all()],
        "projects": [project(one) for one in of_project.values()],
        "credentials": [
            credential(one, of_project.get(one.app.project_id))
            for one in Credential.objects.shown()
        ],
        "workers": [
            {
                "cluster": str(one.cluster),
                "host": one.host,
                "pid": one.pid,
                "started_at": iso(one.started_at),
                "seen_at": iso(one.seen_at),
                "doing": one.doing or one.kind,
            }
            for one in Worker.objects.all()
        ],
        "sources": [source(one) for one in standings(list(Source.objects.all()), now=now)],
        "stream": stream(Stream.objects.first()),
        "timelines": timelines(timelines_now(now=now)),
        "events": events(now=now),
    }


def paused(one: PausedAll | None) -> dict[str, Any] | None:
    """None unless everything is paused."""
    if one is None:
        return None
    return {"since": iso(one.since), "by": one.by, "because": one.because}


def days(*, now: datetime) -> dict[str, Any]:
    """Looks and tweet-days; null where nothing is known, and `why` says so."""
    found = forecasts.told(now=now, with_projects=True)
    return {
        "counted_at": iso(found.today.counted_at),
        "foreseen_at": iso(found.today.expected_at),
        "why": found.why,
        "today": {**came(found.today), **expected(found.today)},
        "tomorrow": expected(found.tomorrow),
        "yesterday": {
            **came(found.yesterday),
            "foreseen_looks": whole(found.yesterday.foreseen_looks),
            "foreseen_tweet_days": whole(found.yesterday.foreseen_tweet_days),
        },
        "projects": [
            {
                "name": one.name,
                "tweet_days": one.so_far,
                "expected_today": whole(one.expected),
                "expected_tomorrow": whole(one.tomorrow),
                "foreseen_yesterday": whole(one.foreseen_yesterday),
                "yesterday": one.yesterday,
            }
            for one in found.projects
        ],
    }


def came(day: ForecastDay) -> dict[str, int | None]:
    return {"looks": day.looks, "tweet_days": day.tweet_days}


def expected(day: ForecastDay) -> dict[str, int | None]:
    return {
        "expected_looks": whole(day.expected_looks),
        "expected_tweet_days": whole(day.expected_tweet_days),
    }


def whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def stretch(plan: Plan) -> dict[str, Any]:
    """By how much adapting waits are longer, 1 for not at all; null where no interval adapts."""
    row = Stretch.objects.filter(pk=Stretch.ONLY).first() if plan.adapts else None
    past = by_time(over=timedelta(days=1), step=timedelta(hours=1)) if row else []
    asked = [tier.bounds.accuracy for tier in plan.tiers if tier.bounds]
    return {
        "windows": row.windows if row else None,
        "money": row.money if row else None,
        "windows_room": room(row) if row else None,
        "most_windows_day": max((one.windows for one in past), default=None),
        "most_money_day": max((one.money for one in past), default=None),
        "accuracy_asked": max(asked, default=None),
        "accuracy_now": max(asked) * row.windows if row and asked else None,
        "why": list(sentences(plan, row)),
    }


def events(*, now: datetime) -> dict[str, Any]:
    hours, live = hours_of_topics(), streams()
    return {
        "staged": staged(),
        "topics": [
            {
                "name": one.name,
                "publisher": one.publisher or None,
                "events": one.events,
                "per_minute": hours.get(one.pk, Hour()).per_minute,
            }
            for one in topics()
        ],
        "live": {"open": live.open, "places": live.places, "processes": live.processes},
        "subscribers": [described(one) for one in standings_of_subscribers(now=now)],
    }


def namespace(one: Namespace, *, now: datetime) -> dict[str, Any]:
    held = one.held(now=now)
    return {
        "name": one.name,
        "due": figures(one.name).due if one.name in namespaces() else 0,
        "held_until": iso(one.held_until) if held else None,
        "held_because": one.held_because if held else "",
        "paused": one.paused,
    }


def project(one: Books) -> dict[str, Any]:
    """Tweet-days, and US dollars as numbers; both including what is reserved."""
    return {
        "name": one.project.name,
        "day": one.day.isoformat(),
        "tweet_days_today": one.spent.posts_today,
        "tweet_days_month": one.spent.posts_month,
        "money_today": float(one.spent.money_today),
        "money_month": float(one.spent.money_month),
        "left_today": one.left,
        "waiting": one.waiting,
        "runs_dry_at": iso(one.runs_dry_at),
        "stopped_until": iso(one.project.stopped_until),
        "stopped_because": one.project.stopped_because,
        "drift": one.project.drift,
    }


def credential(one: Credential, of_project: Books | None) -> dict[str, Any]:
    return {
        "name": one.name,
        "app": one.app.name,
        "project": one.project.name,
        "state": one.state,
        "reason": one.reason,
        "endpoints": [
            {
                "endpoint": window.endpoint,
                "limit": window.limit,
                "remaining": window.remaining,
                "resets_at": iso(window.resets_at),
            }
            for window in one.told()
        ],
        # The project's figures: X bills the project, whichever credential asks.
        "tweet_days_today": of_project.spent.posts_today if of_project else None,
        "tweet_days_month": of_project.spent.posts_month if of_project else None,
    }


def source(one: Standing) -> dict[str, Any]:
    return {
        "id": str(one.source.pk),
        "kind": one.source.kind,
        "of": one.source.of,
        "state": one.state,
        "polled_at": iso(one.source.polled_at),
        "next_poll_at": iso(one.next_poll_at),
        "yielded": one.source.yielded,
        "again": one.source.again,
        "leaked": one.source.leaked,
        "gaps_open": one.gaps_open,
        "gaps_lost": one.gaps_lost,
    }


def stream(one: Stream | None) -> dict[str, Any] | None:
    """None if `stream` was never started."""
    if one is None:
        return None
    return {
        "state": one.state,
        "because": one.because,
        "heard_at": iso(one.heard_at),
        "lines": one.lines,
        "duplicates": one.duplicates,
        "garbled": one.garbled,
        "connects": one.connects,
        "rules_of_others": one.rules_of_others,
    }


def timelines(found: Timelines) -> dict[str, Any]:
    return {
        "lag_seconds": found.lag_seconds,
        "behind": found.behind,
        "hit_rate": found.hit_rate,
        "watchers": found.watchers,
        "follows": found.follows,
        "timelines": found.timelines,
        "entries": found.entries,
        "store_bytes": found.store_bytes,
        "bucket_bytes": found.bucket_bytes,
        "homes": [
            {"strategy": key, "built": one.built, "building": one.building}
            for key, one in found.homes.items()
        ],
    }


def seconds(length: timedelta | None) -> int | None:
    return None if length is None else round(length.total_seconds())
