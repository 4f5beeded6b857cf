"""Each queue over the last hour, day or month, as charts and a table; and what is in trouble."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import attrgetter

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_OPERATIONS, needs
from trackers.dashboards.charts.small import BarChart
from trackers.dashboards.exports import as_file
from trackers.dashboards.tweet_rows import texts_of
from trackers.dashboards.words import commas, lasting
from trackers.jobs.models import TWEET_UPDATE
from trackers.jobs.observed.minutes import QueueSpan, by_time
from trackers.jobs.observed.models import NotedTask
from trackers.jobs.queue import job_classes
from trackers.jobs.statistics import isolated_by_queue
from tweetwatch.amounts import amount
from tweetwatch.tables import Column, Table

_BARS_COUNT_FROM = datetime(1970, 1, 1, tzinfo=UTC)
_A_MINUTE, AN_HOUR, _A_DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

_QUEUE_UNITS = {
    "tweet:update": "tweets",
    "source:poll": "polls",
    "import:part": "parts",
    "timeline:deliver": "deliveries",
    "timeline:rebuild": "homes",
}
_QUEUE_COLUMNS = (
    Column("queue", "text"),
    Column("since", "time"),
    Column("most_due", "whole"),
    Column("oldest_due_seconds", "number"),
    Column("done", "whole"),
    Column("failed", "whole"),
)
_MAX_SHOWN = 20
_MAX_FAILED = 100


@dataclass(frozen=True, slots=True)
class Span:
    name: str
    over: timedelta
    step: timedelta
    since: str  # the words under the left end of a chart
    steps: str  # how long a bar is, as is `bar`
    bar: str


SPANS = {
    "hour": Span("hour", AN_HOUR, _A_MINUTE, "60 min ago", "minute", "a minute"),
    "day": Span("day", _A_DAY, 15 * _A_MINUTE, "24 h ago", "15 minutes", "15 minutes"),
    "month": Span("30 days", 30 * _A_DAY, 6 * AN_HOUR, "30 days ago", "6 hours", "6 hours"),
}


@dataclass(frozen=True, slots=True)
class Chart:
    title: str
    most: str  # what the highest bar stands for
    chart: BarChart


@dataclass(frozen=True, slots=True)
class QueueOverTime:
    name: str
    slug: str
    charts: tuple[Chart, ...]
    lines: Sequence[QueueSpan]  # the newest first, without stretches in which nobody looked
    is_idle: bool


def _queues_over_time(
    stretches_by_queue: dict[str, list[QueueSpan]], span: Span, *, now: datetime
) -> list[QueueOverTime]:
    return [
        _queue_over_time(name, stretches_by_queue.get(name, []), span, now=now)
        for name in sorted(job_classes())
    ]


def _queue_over_time(
    name: str, stretches: Sequence[QueueSpan], span: Span, *, now: datetime
) -> QueueOverTime:
    by_time = {stretch.at: stretch for stretch in stretches}
    slots = [by_time.get(at) for at in bar_starts(span, now=now)]
    unit = _QUEUE_UNITS.get(name, "keys")
    return QueueOverTime(
        name=name,
        slug=name.replace(":", "-"),
        charts=(
            _chart(name, f"Due {unit}", slots, attrgetter("due"), commas),
            _chart(
                name, "Longest overdue", slots, attrgetter("oldest_due_seconds"), _seconds_in_words
            ),
            _chart(name, f"Done per {span.steps}", slots, attrgetter("measured"), commas),
        ),
        lines=stretches[::-1],
        is_idle=not any(stretch.due or stretch.measured or stretch.failed for stretch in stretches),
    )


def bar_starts(span: Span, *, now: datetime) -> list[datetime]:
    """When each bar begins, the oldest first; the last one has begun by now."""
    last = now - (now - _BARS_COUNT_FROM) % span.step
    return [last - span.step * back for back in range(span.over // span.step, -1, -1)]


def _chart(
    queue: str,
    title: str,
    slots: Sequence[QueueSpan | None],
    value: Callable[[QueueSpan], float | None],
    words: Callable[[int], str],
) -> Chart:
    values = [value(slot) if slot else None for slot in slots]
    most = words(round(max((number for number in values if number is not None), default=0)))
    return Chart(title, most, BarChart(values, f"{title}, {queue}: at most {most}"))


def _seconds_in_words(number: int) -> str:
    return lasting(timedelta(seconds=number))


@require_safe
@needs(VIEW_OPERATIONS)
def queues_file(request: HttpRequest, form: str) -> HttpResponseBase:
    """For the time that the page shows, in the same steps."""
    over, span = _asked_span(request)
    values = attrgetter("at", "due", "oldest_due_seconds", "measured", "failed")
    rows = (
        (name, *values(stretch))
        for name, stretches in by_time(over=span.over, step=span.step).items()
        for stretch in stretches
    )
    return as_file(request, Table(f"queues-{over}", _QUEUE_COLUMNS, rows), form)


def over_time_context(request: HttpRequest, *, now: datetime) -> dict[str, object]:
    over, span = _asked_span(request)
    stretches = by_time(over=span.over, step=span.step)
    return {
        "over": over,
        "span": span,
        "spans": SPANS,
        "over_time": _queues_over_time(stretches, span, now=now),
        "is_kept": any(stretches.values()),
    }


def troubled_tasks() -> Sequence[NotedTask]:
    """The newest."""
    return list(NotedTask.objects.all()[:_MAX_SHOWN])


def failed_lately(*, now: datetime) -> str:
    """How many tasks failed in the last hour, such as "3 tasks"; empty for none."""
    newest = NotedTask.objects.values_list("failed", "ended_at")[:_MAX_FAILED]
    failed = sum(has_failed and now - ended_at <= AN_HOUR for has_failed, ended_at in newest)
    if failed == _MAX_FAILED:
        return f"{amount(failed, 'task')} or more"
    return amount(failed, "task") if failed else ""


def _asked_span(request: HttpRequest) -> tuple[str, Span]:
    """By its name; the last hour, unless the address asks for another."""
    over = request.GET.get("over", "")
    over = over if over in SPANS else "hour"
    return over, SPANS[over]


@dataclass(frozen=True, slots=True)
class IsolatedKeys:
    """Keys of one queue."""

    queue: str
    keys: tuple[tuple[str, str, str], ...]  # with its page, and its text if it is a tweet
    more: bool  # there are others
    listed: str  # where all of them are


def isolated_keys() -> list[IsolatedKeys]:
    """Of each queue that has any."""
    by_queue = isolated_by_queue(most=_MAX_SHOWN + 1)
    texts = texts_of(by_queue.get(TWEET_UPDATE, [])[:_MAX_SHOWN])
    return [
        IsolatedKeys(
            queue=name,
            keys=tuple(
                (str(key), _retry_address(name, key), is_tweets * texts.get(key, ""))
                for key in keys[:_MAX_SHOWN]
            ),
            more=len(keys) > _MAX_SHOWN,
            listed=f"{reverse('tweets')}?state=isolated" if is_tweets else "",
        )
        for name, keys in by_queue.items()
        for is_tweets in [name == TWEET_UPDATE]
    ]


def _retry_address(queue: str, key: int) -> str:
    """Where a person retries it; empty if there is no such page."""
    page = {"tweet:update": "tweet", "source:poll": "source"}.get(queue)
    return reverse(page, args=[key]) if page else ""
