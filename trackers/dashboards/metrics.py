"""`/metrics` for Prometheus: what `status` shows, as numbers, read from the database on request.

One truth for any number of processes: nothing is counted in the web's own memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.http.request import split_domain_port
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from trackers.ingest.stream.models import Stream
from trackers.status import Status
from tweetwatch import VERSION
from tweetwatch.servers import is_loopback


@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Requires METRICS_KEY as a bearer token; if no key is set, nobody has access."""
    if settings.SECURE_SSL_REDIRECT and not (request.is_secure() or _stays_here(request)):
        return HttpResponsePermanentRedirect(f"https://{request.get_host()}{request.path}")
    scheme, _, brought = request.headers.get("Authorization", "").partition(" ")
    is_right = constant_time_compare(brought.strip(), settings.METRICS_KEY)
    if not settings.METRICS_KEY or scheme.lower() != "bearer" or not is_right:
        return HttpResponse("Set METRICS_KEY, and send it as a bearer token.\n", status=403)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(AllMetrics())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _stays_here(request: HttpRequest) -> bool:
    """Whether the answer never leaves the machine, so that nobody can read it on its way: the
    request went to a loopback address. A proxy passes on the host name of its own request."""
    asked, _ = split_domain_port(request.get_host())
    return is_loopback(asked.strip("[]")) and is_loopback(request.META.get("REMOTE_ADDR", ""))


class AllMetrics(Collector):
    def collect(self) -> Iterator[Metric]:
        yield _gauge("build_info", "1, with the version as a label.", "version").add([VERSION], 1)
        status = Status()
        yield from _pausing_metrics(status)
        yield from _queue_metrics(status)
        yield from _tweet_metrics(status)
        yield from _credential_metrics(status)
        yield from _money_metrics(status)
        yield from _day_metrics(status)
        yield from _worker_metrics(status)
        yield from _source_metrics(status)
        yield from _stream_metrics(status)
        yield from _timeline_metrics(status)
        yield from _event_metrics(status)
        yield _gauge("oldest_snapshot_seconds", "Age of the oldest snapshot in the database.").add(
            [], status.oldest_snapshot.seconds
        )
        yield from _standby_metrics(status)


class GaugeFamily(GaugeMetricFamily):
    """Several values of one name."""

    def add(self, labels: list[str], value: float) -> GaugeFamily:
        self.add_metric(labels, value)
        return self


class CounterFamily(CounterMetricFamily):
    """Counts that only grow."""

    def add(self, labels: list[str], value: float) -> CounterFamily:
        self.add_metric(labels, value)
        return self


def _gauge(name: str, about: str, *labels: str) -> GaugeFamily:
    return GaugeFamily(f"tweetwatch_{name}", about, labels=labels)


def _total(name: str, about: str, *labels: str) -> CounterFamily:
    return CounterFamily(f"tweetwatch_{name}", about, labels=labels)


def _pausing_metrics(status: Status) -> Iterator[Metric]:
    pause = status.paused
    yield _gauge("paused_all", "1 while a person has paused everything.").add([], bool(pause))
    since = _gauge("paused_all_since_timestamp_seconds", "Since when everything is paused.")
    yield since.add([], pause.since.timestamp()) if pause else since


def _standby_metrics(status: Status) -> Iterator[Metric]:
    standby = status.standby
    is_read = standby is not None and not standby.why
    yield _gauge("standby_read", "1 while pages are read from a standby.").add([], is_read)
    if standby and standby.lag_seconds is not None:
        lag = _gauge("standby_lag_seconds", "How far the standby is behind the primary.")
        yield lag.add([], standby.lag_seconds)


def _queue_metrics(status: Status) -> Iterator[Metric]:
    due = _gauge("due", "Keys of a queue that are due.", "queue")
    oldest = _gauge("oldest_due_seconds", "How long the oldest due key has been due.", "queue")
    in_flight = _gauge("in_flight", "Keys that workers have claimed.", "queue")
    isolated = _gauge(
        "isolated",
        "Keys set aside after four workers in a row died while processing them.",
        "queue",
    )
    checked = _gauge("checked_last_minute", "Keys processed in the last minute.", "queue")
    late = _gauge("lateness_seconds", "Upper bound of lateness.", "queue", "quantile")
    for name, queue in status.queue_summaries.items():
        due.add([name], queue.due)
        oldest.add([name], queue.oldest_due_seconds)
        in_flight.add([name], queue.in_flight)
        isolated.add([name], queue.isolated)
        checked.add([name], queue.checked_last_minute)
        for share, seconds in (
            ("0.5", queue.lateness_p50_seconds),
            ("0.99", queue.lateness_p99_seconds),
        ):
            if seconds is not None:
                late.add([name, share], seconds)
    yield from (due, oldest, in_flight, isolated, checked, late)


def _tweet_metrics(status: Status) -> Iterator[Metric]:
    yield _gauge("gone", "Tweets that X no longer shows.").add([], status.tweets.gone)
    about = "Tweets that X's last reply left out, or described unreadably."
    yield _gauge("unreadable", about).add([], status.tweets.unreadable)


def _credential_metrics(status: Status) -> Iterator[Metric]:
    labels = ("credential", "endpoint")
    remaining = _gauge(
        "credential_remaining", "Requests left in a rate limit window, as reported by X.", *labels
    )
    resets = _gauge(
        "credential_reset_timestamp_seconds", "When the rate limit window resets.", *labels
    )
    ready = _gauge("credential_ready", "1 if it may be used.", "credential")
    for credential in status.credentials:
        ready.add([credential.name], float(credential.state == "ready"))
        for window in credential.reported_windows():
            remaining.add([credential.name, window.endpoint], window.remaining)
            resets.add([credential.name, window.endpoint], window.resets_at.timestamp())
    yield from (ready, remaining, resets)


def _money_metrics(status: Status) -> Iterator[Metric]:
    today = _gauge(
        "tweet_days_today", "Tweet-days of this UTC day, including reserved ones.", "project"
    )
    left = _gauge("tweet_days_left", "Tweet-days left in today's budget.", "project")
    waiting = _gauge(
        "tweets_waiting_for_money", "Tweets waiting for the next day's budget.", "project"
    )
    for summary in status.projects:
        name = [summary.project.name]
        today.add(name, summary.spent.posts_today)
        if summary.left is not None:
            left.add(name, summary.left)
            waiting.add(name, summary.waiting)
    yield from (today, left, waiting)


def _day_metrics(status: Status) -> Iterator[Metric]:
    """What is not known is left out."""
    today, tomorrow, yesterday = status.days.today, status.days.tomorrow, status.days.yesterday
    lookups = _gauge("lookups", "Answers of X about one tweet each, by UTC day.", "day", "kind")
    days = _gauge("tweet_days", "Tweet-days of all projects, by UTC day.", "day", "kind")
    for day, kind, of_lookups, of_days in (
        ("today", "actual", today.lookups, today.tweet_days),
        ("today", "expected", today.expected_lookups, today.expected_tweet_days),
        ("tomorrow", "expected", tomorrow.expected_lookups, tomorrow.expected_tweet_days),
        ("yesterday", "actual", yesterday.lookups, yesterday.tweet_days),
        ("yesterday", "forecast", yesterday.foreseen_lookups, yesterday.foreseen_tweet_days),
    ):
        if of_lookups is not None:
            lookups.add([day, kind], of_lookups)
        if of_days is not None:
            days.add([day, kind], of_days)
    yield from (lookups, days)
    if (row := status.stretch) is None:
        return
    stretch = _gauge("stretch_ratio", "How much longer adapting waits are; 1: not at all.", "for")
    yield stretch.add(["windows"], row.windows).add(["money"], row.money)
    accuracy = _gauge(
        "accuracy_ratio", "The share of a tweet's figures that may be missed.", "kind"
    )
    for kind, share in (("asked", status.accuracy_asked), ("now", status.accuracy_now)):
        if share is not None:
            accuracy.add([kind], share)
    yield accuracy


def _worker_metrics(status: Status) -> Iterator[Metric]:
    seen = _gauge("worker_seen_timestamp_seconds", "Its last sign of life.", "host", "kind", "pid")
    for worker in status.workers:
        seen.add([worker.host, worker.kind, str(worker.pid)], worker.seen_at.timestamp())
    yield seen


def _source_metrics(status: Status) -> Iterator[Metric]:
    labels = ("source", "name")
    yielded = _total("source_posts", "Posts that a source found.", *labels)
    again = _total("source_repeats", "Posts that a source found again.", *labels)
    leaked = _total(
        "source_leaks", "Posts that X showed only after the cursor had passed them.", *labels
    )
    gaps = _gauge("source_gaps", "Open gaps: ranges that have not been read.", *labels, "state")
    polled = _gauge("source_polled_timestamp_seconds", "When its last poll ended.", *labels)
    for source_status in status.sources:
        source = source_status.source
        values = [str(source.pk), str(source)[:100]]
        yielded.add(values, source.yielded)
        again.add(values, source.again)
        leaked.add(values, source.leaked)
        gaps.add([*values, "open"], source_status.gaps_open)
        gaps.add([*values, "lost"], source_status.gaps_lost)
        if source.polled_at:
            polled.add(values, source.polled_at.timestamp())
    yield from (yielded, again, leaked, gaps, polled)


def _stream_metrics(status: Status) -> Iterator[Metric]:
    stream = status.stream
    if stream is None:
        return
    is_open = float(stream.state == Stream.State.OPEN)
    yield _gauge("stream_open", "1 while X's stream is connected.").add([], is_open)
    yield _total("stream_lines", "Lines that X sent.").add([], stream.lines)
    yield _total("stream_duplicates", "Posts that arrived twice.").add([], stream.duplicates)
    yield _total("stream_garbled", "Lines that could not be parsed.").add([], stream.garbled)
    yield _total("stream_connects", "Connections opened to X.").add([], stream.connects)


def _timeline_metrics(status: Status) -> Iterator[Metric]:
    timelines = status.timelines
    about = "Age of the oldest tweet waiting to be delivered to homes."
    yield _gauge("delivery_lag_seconds", about).add([], timelines.lag_seconds)
    about = "Sources and accounts with tweets waiting to be delivered to homes."
    yield _gauge("deliveries_behind", about).add([], timelines.behind)
    rows = _gauge("timeline_rows", "Rows; above 10,000 an estimate.", "of")
    for name in ("followers", "follows", "timelines", "entries"):
        rows.add([name], getattr(timelines, name))
    size = _gauge("timeline_bytes", "Size on disk, with indexes.", "of")
    size.add(["store"], timelines.store_bytes).add(["buckets"], timelines.bucket_bytes)
    homes = _gauge("homes", "Homes that are built, up to 10,000.", "strategy", "state")
    for key, counts in timelines.homes.items():
        homes.add([key, "built"], counts.built).add([key, "building"], counts.building)
    pages = _gauge("home_pages", "Pages of homes, today and yesterday.", "served_by")
    for name, count in timelines.pages.items():
        pages.add([name], count)
    yield from (rows, size, homes, pages)


def _event_metrics(status: Status) -> Iterator[Metric]:
    yield _gauge(
        "events_staged", "Transactions whose events wait to be fanned out, up to 1,000."
    ).add([], status.staged)
    topics = _total("events", "Events by topic.", "topic")
    for topic in status.topics:
        topics.add([topic.name], topic.events)
    yield topics
    live = status.live
    about = "Open live streams."
    yield _gauge("live_streams_open", about).add([], live.open)
    about = "Capacity for live streams in the web processes that have any open."
    yield _gauge("live_streams_places", about).add([], live.places)
    ended = _total("subscriber_events", "Events by subscriber and outcome.", "subscriber",
                  "outcome")  # fmt: skip
    queued = _gauge("subscriber_queued_events", "Waiting events, by subscriber.", "subscriber")
    batches = _gauge("subscriber_queued_batches", "Waiting batches, by subscriber.", "subscriber")
    oldest = _gauge("subscriber_oldest_seconds", "Age of the oldest waiting event.", "subscriber")
    health = _gauge(
        "subscriber_health", "Health from 0 to 100; it falls when deliveries fail.", "subscriber"
    )
    states = _gauge("subscriber_state", "1 for the current state.", "subscriber", "state")
    for subscriber_status in status.subscribers:
        name = subscriber_status.subscriber.name
        for outcome in ("added", "delivered", "dropped"):
            ended.add([name, outcome], getattr(subscriber_status.books, outcome))
        queued.add([name], subscriber_status.books.queued)
        batches.add([name], subscriber_status.books.batches)
        oldest.add([name], subscriber_status.oldest_seconds or 0)
        health.add([name], subscriber_status.subscriber.state.health)
        states.add([name, subscriber_status.state], 1)
    yield from (ended, queued, batches, oldest, health, states)
