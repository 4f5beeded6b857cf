"""Each queue over the last hour, day or month: charts of depth, age and throughput, and a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from trackers.dashboards.access import OPERATIONS, needs
from trackers.dashboards.bar_chart import BarChart
from trackers.dashboards.exports import as_file
from trackers.dashboards.words import counted, exactly, lasting
from trackers.jobs.observed.minutes import Stretch, by_time
from trackers.jobs.queue import namespaces
from tweetwatch.tables import Column, Table

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

UNITS = {
    "tweet:update": "tweets",
    "source:poll": "polls",
    "import:part": "parts",
    "timeline:deliver": "deliveries",
    "timeline:rebuild": "homes",
}


@dataclass(frozen=True, slots=True)
class Span:
    """`since`: the words under the left end of a chart. `steps` and `bar`: how long a bar is."""

    name: str
    over: timedelta
    step: timedelta
    since: str
    steps: str
    bar: str


SPANS = {
    "hour": Span("hour", HOUR, MINUTE, "60 min ago", "minute", "a minute"),
    "day": Span("day", DAY, 15 * MINUTE, "24 h ago", "15 minutes", "15 minutes"),
    "month": Span("30 days", 30 * DAY, 6 * HOUR, "30 days ago", "6 hours", "6 hours"),
}


@dataclass(frozen=True, slots=True)
class Chart:
    """`most`: what the highest bar stands for."""

    title: str
    most: str
    chart: BarChart


@dataclass(frozen=True, slots=True)
class Line:
    at: str
    due: str
    oldest: str
    done: str
    failed: str


@dataclass(frozen=True, slots=True)
class QueueOverTime:
    """`lines`: the newest first, without stretches in which nobody looked."""

    name: str
    slug: str
    charts: tuple[Chart, ...]
    lines: tuple[Line, ...]
    is_idle: bool


def queues_over_time(
    found: dict[str, list[Stretch]], span: Span, *, now: datetime
) -> list[QueueOverTime]:
    return [queue(name, found.get(name, []), span, now=now) for name in sorted(namespaces())]


def queue(name: str, found: Sequence[Stretch], span: Span, *, now: datetime) -> QueueOverTime:
    by_time = {one.at: one for one in found}
    slots = [by_time.get(at) for at in starts(span, now=now)]
    unit = UNITS.get(name, "keys")
    return QueueOverTime(
        name=name,
        slug=name.replace(":", "-"),
        charts=(
            chart(name, f"Due {unit}", slots, lambda one: one.due, counted),
            chart(name, "Oldest due", slots, lambda one: one.oldest_due_seconds, seconds),
            chart(name, f"Done per {span.steps}", slots, lambda one: one.measured, counted),
        ),
        lines=tuple(line(one) for one in reversed(found)),
        is_idle=not any(one.due or one.measured or one.failed for one in found),
    )


def starts(span: Span, *, now: datetime) -> list[datetime]:
    """When each bar begins, the oldest first; the last one has begun by now."""
    last = now - (now - EPOCH) % span.step
    return [last - span.step * back for back in range(span.over // span.step, -1, -1)]


def chart(
    queue: str,
    title: str,
    slots: Sequence[Stretch | None],
    value: Callable[[Stretch], float | None],
    words: Callable[[int], str],
) -> Chart:
    values = [value(slot) if slot else None for slot in slots]
    most = words(round(max((one for one in values if one is not None), default=0)))
    return Chart(title, most, BarChart(values, f"{title}, {queue}: at most {most}"))


def seconds(number: int) -> str:
    return lasting(timedelta(seconds=number))


def line(one: Stretch) -> Line:
    return Line(
        at=exactly(one.at)[:16],
        due=counted(one.due),
        oldest=f"{one.oldest_due_seconds:,.1f} s",
        done="–" if one.measured is None else counted(one.measured),
        failed="–" if one.failed is None else counted(one.failed),
    )


COLUMNS = (
    Column("queue", "text"),
    Column("from", "time"),
    Column("most_due", "whole"),
    Column("longest_overdue_seconds", "number"),
    Column("done", "whole"),
    Column("failed", "whole"),
)


@require_safe
@needs(OPERATIONS)
def queues_file(request: HttpRequest, form: str) -> HttpResponseBase:
    """For the time that the page shows, in the same steps."""
    over = request.GET.get("over", "")
    over = over if over in SPANS else "hour"
    span = SPANS[over]
    rows = (
        (name, one.at, one.due, one.oldest_due_seconds, one.measured, one.failed)
        for name, found in by_time(over=span.over, step=span.step).items()
        for one in found
    )
    return as_file(request, Table(f"queues-{over}", COLUMNS, rows), form)
