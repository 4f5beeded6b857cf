"""The figures of `manage.py status`, as one object for JSON."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from trackers.credentials.models import Credential
from trackers.events.minutes import Hour
from trackers.events.subscribers.listing import described
from trackers.forecasts.models import ForecastDay
from trackers.ingest.sources.models import Stream
from trackers.ingest.sources.standing import Standing
from trackers.jobs.models import Namespace, Worker
from trackers.jobs.pausing import PausedAll
from trackers.money.summary import MoneySummary
from trackers.schedule.stretch_words import room, sentences
from trackers.status import Status
from trackers.timelines.statistics import Timelines
from tweetwatch import VERSION
from tweetwatch.clock_times import iso


def status() -> dict[str, Any]:
    """Shapes and names are public (docs/commands.md). Times are ISO 8601 in UTC."""
    status = Status()
    tweets, queue = status.tweets, status.tweet_queue
    of_project = {one.project.pk: one for one in status.projects}
    return {
        "version": VERSION,
        "taken_at": iso(min(tweets.taken_at, queue.counted_at or queue.taken_at)),
        "paused": paused(status.paused),
        "tracked": tweets.tracked,
        "resting": status.resting,
        "due": queue.due,
        "oldest_due_seconds": queue.oldest_due_seconds,
        "oldest_urgent_seconds": queue.oldest_urgent_seconds,
        "in_flight": queue.in_flight,
        "checked_last_minute": queue.checked_last_minute,
        "lateness_p50_seconds": queue.lateness_p50_seconds,
        "lateness_p99_seconds": queue.lateness_p99_seconds,
        "batch_fill": queue.batch_fill,
        "catch_up_seconds": seconds(status.catch_up.length),
        "oldest_snapshot_seconds": status.oldest_snapshot.seconds,
        "isolated": queue.isolated,
        "gone": tweets.gone,
        "unclear": tweets.unclear,
        "days": days(status),
        "stretch": stretch(status),
        "namespaces": [namespace(one, status) for one in status.namespaces],
        "projects": [project(one) for one in status.projects],
        "credentials": [
            credential(one, of_project.get(one.app.project_id)) for one in status.credentials
        ],
        "workers": [worker(one) for one in status.workers],
        "sources": [source(one) for one in status.sources_and_imports],
        "stream": stream(status.stream),
        "timelines": timelines(status.timelines),
        "events": events(status),
    }


def paused(one: PausedAll | None) -> dict[str, Any] | None:
    """None unless everything is paused."""
    if one is None:
        return None
    return {"since": iso(one.since), "by": one.by, "because": one.because}


def days(status: Status) -> dict[str, Any]:
    """Looks and tweet-days; null where nothing is known, and `why` says so."""
    today, tomorrow, yesterday = status.days.today, status.days.tomorrow, status.days.yesterday
    return {
        "counted_at": iso(today.counted_at),
        "foreseen_at": iso(today.expected_at),
        "why": status.days.why,
        "today": {**came(today), **expected(today)},
        "tomorrow": expected(tomorrow),
        "yesterday": {
            **came(yesterday),
            "foreseen_looks": whole(yesterday.foreseen_looks),
            "foreseen_tweet_days": whole(yesterday.foreseen_tweet_days),
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
            for one in status.days_of_projects
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


def stretch(status: Status) -> dict[str, Any]:
    """By how much adapting waits are longer, 1 for not at all; null where no interval adapts."""
    row, past = status.stretch, status.stretches
    return {
        "windows": row.windows if row else None,
        "money": row.money if row else None,
        "windows_room": room(row) if row else None,
        "most_windows_day": max((one.windows for one in past), default=None),
        "most_money_day": max((one.money for one in past), default=None),
        "accuracy_asked": status.accuracy_asked,
        "accuracy_now": status.accuracy_now,
        "why": list(sentences(status.plan, row)),
    }


def events(status: Status) -> dict[str, Any]:
    hours, live = status.topic_hours, status.live
    return {
        "staged": status.staged,
        "topics": [
            {
                "name": one.name,
                "publisher": one.publisher or None,
                "events": one.events,
                "per_minute": hours.get(one.pk, Hour()).per_minute,
            }
            for one in status.topics
        ],
        "live": {"open": live.open, "places": live.places, "processes": live.processes},
        "subscribers": [described(one) for one in status.subscribers],
    }


def namespace(one: Namespace, status: Status) -> dict[str, Any]:
    held = one.held(now=status.now)
    queue = status.queues.get(one.name)
    return {
        "name": one.name,
        "due": queue.due if queue else 0,
        "held_until": iso(one.held_until) if held else None,
        "held_because": one.held_because if held else "",
        "paused": one.paused,
    }


def project(one: MoneySummary) -> dict[str, Any]:
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


def credential(one: Credential, of_project: MoneySummary | None) -> dict[str, Any]:
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


def worker(one: Worker) -> dict[str, Any]:
    return {
        "cluster": str(one.cluster),
        "host": one.host,
        "pid": one.pid,
        "started_at": iso(one.started_at),
        "seen_at": iso(one.seen_at),
        "doing": one.doing or one.kind,
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
        "followers": found.followers,
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
