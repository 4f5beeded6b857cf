"""The figures of `manage.py status`, as one object for JSON."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from trackers.credentials.models import Credential
from trackers.events.minutes import Hour
from trackers.events.subscribers.listing import subscriber_json
from trackers.forecasts.models import ForecastDay
from trackers.ingest.sources.status import SourceStatus
from trackers.ingest.stream.models import Stream
from trackers.jobs.models import PausedAll, Queue
from trackers.jobs.observed.models import Worker
from trackers.money.summary import MoneySummary
from trackers.schedule.stretch.words import room, sentences
from trackers.standbys.reading import StandbyNow
from trackers.status import Status
from trackers.timelines.statistics import Timelines
from tweetwatch import VERSION
from tweetwatch.clock_times import iso


def status_json() -> dict[str, Any]:
    """Shapes and names are public (docs/commands.md). Times are ISO 8601 in UTC."""
    status = Status()
    tweets, queue = status.tweets, status.tweet_queue
    of_project = {row.project.pk: row for row in status.projects}
    return {
        "version": VERSION,
        "taken_at": iso(min(tweets.taken_at, queue.counted_at or queue.taken_at)),
        "paused": _pause_json(status.paused),
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
        "catch_up_seconds": _whole_seconds(status.catch_up.length),
        "oldest_snapshot_seconds": status.oldest_snapshot.seconds,
        "standby": _standby_json(status.standby),
        "isolated": queue.isolated,
        "gone": tweets.gone,
        "unreadable": tweets.unreadable,
        "days": _days_json(status),
        "stretch": _stretch_json(status),
        "queues": [_queue_json(row, status) for row in status.queues],
        "projects": [_project_json(row) for row in status.projects],
        "credentials": [
            _credential_json(row, of_project.get(row.app.project_id)) for row in status.credentials
        ],
        "workers": [_worker_json(row) for row in status.workers],
        "sources": [source_json(row) for row in status.sources_and_imports],
        "stream": _stream_json(status.stream),
        "timelines": _timelines_json(status.timelines),
        "events": _events_json(status),
    }


def _pause_json(pause: PausedAll | None) -> dict[str, Any] | None:
    """None unless everything is paused."""
    if pause is None:
        return None
    return {"since": iso(pause.since), "by": pause.by, "reason": pause.because}


def _standby_json(standby: StandbyNow | None) -> dict[str, Any] | None:
    """None: nothing is read from a standby by its settings."""
    return {"lag_seconds": standby.lag_seconds, "why": standby.why} if standby else None


def _days_json(status: Status) -> dict[str, Any]:
    """Look-ups and tweet-days; null where nothing is known, and `why` says so."""
    today, tomorrow, yesterday = status.days.today, status.days.tomorrow, status.days.yesterday
    return {
        "counted_at": iso(today.counted_at),
        "expected_at": iso(today.expected_at),
        "why": status.days.why,
        "is_guess": today.is_guess,
        "today": {**_counted_json(today), **_expected_json(today)},
        "tomorrow": _expected_json(tomorrow),
        "yesterday": {
            **_counted_json(yesterday),
            "forecast_lookups": _rounded(yesterday.foreseen_lookups),
            "forecast_tweet_days": _rounded(yesterday.foreseen_tweet_days),
        },
        "projects": [
            {
                "name": project.name,
                "tweet_days": project.so_far,
                "expected_today": _rounded(project.expected),
                "expected_tomorrow": _rounded(project.tomorrow),
                "forecast_yesterday": _rounded(project.foreseen_yesterday),
                "yesterday": project.yesterday,
            }
            for project in status.days_of_projects
        ],
    }


def _counted_json(day: ForecastDay) -> dict[str, int | None]:
    return {"lookups": day.lookups, "tweet_days": day.tweet_days}


def _expected_json(day: ForecastDay) -> dict[str, int | None]:
    return {
        "expected_lookups": _rounded(day.expected_lookups),
        "expected_tweet_days": _rounded(day.expected_tweet_days),
    }


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def _stretch_json(status: Status) -> dict[str, Any]:
    """By how much adapting waits are longer, 1 for not at all; null where no interval adapts."""
    row, past = status.stretch, status.stretches
    return {
        "windows": row.windows if row else None,
        "money": row.money if row else None,
        "windows_room": room(row) if row else None,
        "most_windows_day": max((hour.windows for hour in past), default=None),
        "most_money_day": max((hour.money for hour in past), default=None),
        "accuracy_asked": status.accuracy_asked,
        "accuracy_now": status.accuracy_now,
        "why": list(sentences(status.plan, row)),
    }


def _events_json(status: Status) -> dict[str, Any]:
    hours, live = status.topic_hours, status.live
    return {
        "staged": status.staged,
        "topics": [
            {
                "name": row.name,
                "publisher": row.publisher or None,
                "events": row.events,
                "per_minute": hours.get(row.pk, Hour()).per_minute,
            }
            for row in status.topics
        ],
        "live": {"open": live.open, "places": live.places, "processes": live.processes},
        "subscribers": [subscriber_json(row) for row in status.subscribers],
    }


def _queue_json(queue: Queue, status: Status) -> dict[str, Any]:
    held = queue.held(now=status.now)
    summary = status.queue_summaries.get(queue.name)
    return {
        "name": queue.name,
        "due": summary.due if summary else 0,
        "held_until": iso(queue.held_until) if held else None,
        "held_reason": queue.held_reason if held else "",
        "paused": queue.paused,
    }


def _project_json(summary: MoneySummary) -> dict[str, Any]:
    """Tweet-days, and US dollars as numbers; both including what is reserved."""
    return {
        "name": summary.project.name,
        "day": summary.day.isoformat(),
        "tweet_days_today": summary.spent.posts_today,
        "tweet_days_month": summary.spent.posts_month,
        "money_today": float(summary.spent.money_today),
        "money_month": float(summary.spent.money_month),
        "tweet_days_left_today": summary.left,
        "tweets_waiting": summary.waiting,
        "runs_dry_at": iso(summary.runs_dry_at),
        "depleted_until": iso(summary.project.depleted_until),
        "depleted_reason": summary.project.depleted_reason,
        "drift": summary.project.drift,
    }


def _credential_json(credential: Credential, of_project: MoneySummary | None) -> dict[str, Any]:
    return {
        "name": credential.name,
        "app": credential.app.name,
        "project": credential.project.name,
        "state": credential.state,
        "reason": credential.reason,
        "endpoints": [
            {
                "endpoint": window.endpoint,
                "limit": window.limit,
                "remaining": window.remaining,
                "resets_at": iso(window.resets_at),
            }
            for window in credential.reported_windows()
        ],
        # The project's figures: X bills the project, whichever credential asks.
        "tweet_days_today": of_project.spent.posts_today if of_project else None,
        "tweet_days_month": of_project.spent.posts_month if of_project else None,
    }


def _worker_json(worker: Worker) -> dict[str, Any]:
    return {
        "cluster": str(worker.cluster),
        "host": worker.host,
        "pid": worker.pid,
        "started_at": iso(worker.started_at),
        "seen_at": iso(worker.seen_at),
        "doing": worker.doing or worker.kind,
    }


def source_json(status: SourceStatus) -> dict[str, Any]:
    return {
        "id": str(status.source.pk),
        "kind": status.source.kind,
        "of": status.source.of,
        "state": status.state,
        "polled_at": iso(status.source.polled_at),
        "next_poll_at": iso(status.next_poll_at),
        "posts": status.source.yielded,
        "repeats": status.source.again,
        "leaks": status.source.leaked,
        "gaps_open": status.gaps_open,
        "gaps_lost": status.gaps_lost,
    }


def _stream_json(stream: Stream | None) -> dict[str, Any] | None:
    """None if `stream` was never started."""
    if stream is None:
        return None
    return {
        "state": stream.state,
        "reason": stream.because,
        "heard_at": iso(stream.heard_at),
        "lines": stream.lines,
        "duplicates": stream.duplicates,
        "garbled": stream.garbled,
        "connects": stream.connects,
        "rules_of_others": stream.rules_of_others,
    }


def _timelines_json(figures: Timelines) -> dict[str, Any]:
    return {
        "lag_seconds": figures.lag_seconds,
        "behind": figures.behind,
        "hit_rate": figures.hit_rate,
        "followers": figures.followers,
        "follows": figures.follows,
        "timelines": figures.timelines,
        "entries": figures.entries,
        "store_bytes": figures.store_bytes,
        "bucket_bytes": figures.bucket_bytes,
        "homes": [
            {"strategy": key, "built": home.built, "building": home.building}
            for key, home in figures.homes.items()
        ],
    }


def _whole_seconds(length: timedelta | None) -> int | None:
    return None if length is None else round(length.total_seconds())
