"""The page of one tweet: its figures now, its curve, and every measurement behind it."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from trackers.dashboards.access import staff_only
from trackers.dashboards.curve import RANGES, Curve, curve, series, told
from trackers.dashboards.rows import LABELS, rows
from trackers.dashboards.words import Moment, ago, counted
from trackers.ingest.models import SourceTweet
from trackers.schedule.intervals import current
from trackers.tweets.history import Run
from trackers.tweets.models import METRICS, Tweet
from trackers.tweets.series import since

TABLE_MOST = 200


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table: one run, or the hole before it."""

    taken: Moment
    until: Moment
    measurements: str
    values: tuple[str, ...]
    after_hole: bool


@dataclass(frozen=True, slots=True)
class Origin:
    """A source that yielded the tweet."""

    id: int
    name: str
    seen: Moment
    late: bool


@require_safe
@staff_only
def tweet(request: HttpRequest, id: int) -> HttpResponse:
    return render(request, "dashboards/tweet.html", shown(request, id))


@require_safe
@staff_only
def tweet_now(request: HttpRequest, id: int) -> HttpResponse:
    return render(request, "dashboards/_tweet.html", shown(request, id))


def shown(request: HttpRequest, id: int) -> dict[str, object]:
    found = find(id)
    now, plan = current()
    range = asked_range(request)
    drawn = curve(found, plan, range=range, now=now)
    return {
        "now": now,
        "tweet": found,
        "row": rows([found], plan, now=now)[0],
        "labels": LABELS,
        "range": range,
        "ranges": RANGES,
        "told": told(drawn.runs, drawn.holes),
        "lines": lines(drawn, now=now),
        "left_out": counted(max(0, len(drawn.runs) - TABLE_MOST)),
        "more": len(drawn.runs) > TABLE_MOST,
        "origins": origins(found.pk, now=now),
        "tracked": ago(found.tracked_at, now=now),
        "gone": ago(found.gone_at, now=now) if found.gone_at else None,
        "missing": ago(found.missing_since, now=now) if found.missing_since else None,
    }


def find(id: int) -> Tweet:
    try:
        return Tweet.objects.select_related("author", "tweettext").get(pk=id)
    except (Tweet.DoesNotExist, OverflowError):
        raise Http404(f"Tweet {id} is not tracked.") from None


def origins(id: int, *, now: datetime) -> list[Origin]:
    found = SourceTweet.objects.select_related("source").filter(tweet_id=id).order_by("seen_at")
    return [
        Origin(one.source_id, str(one.source), ago(one.seen_at, now=now), one.late) for one in found
    ]


def asked_range(request: HttpRequest) -> str:
    range = request.GET.get("range", "")
    return range if range in RANGES else "all"


def lines(drawn: Curve, *, now: datetime) -> list[Line]:
    """The newest runs first."""
    first = max(0, len(drawn.runs) - TABLE_MOST)
    return [
        line(run, after_hole=first + place in drawn.holes, now=now)
        for place, run in enumerate(drawn.runs[first:])
    ][::-1]


def line(run: Run, *, after_hole: bool, now: datetime) -> Line:
    values = (getattr(run, metric) for metric in LABELS)
    return Line(
        taken=ago(run.taken_at, now=now),
        until=ago(run.measured_until, now=now),
        measurements=counted(run.measurements),
        values=tuple("–" if value is None else counted(value) for value in values),
        after_hole=after_hole,
    )


@require_safe
@staff_only
def series_json(request: HttpRequest, id: int) -> JsonResponse:
    found = find(id)
    now, plan = current()
    range = asked_range(request)
    return JsonResponse(
        series(found, curve(found, plan, range=range, now=now), range=range),
        headers={"Cache-Control": "no-store"},
    )


@require_safe
@staff_only
def samples_csv(request: HttpRequest, id: int) -> StreamingHttpResponse:
    """The whole history of the tweet, a line per run, as `manage.py export samples` writes it."""
    runs = since(find(id).pk, None)
    return StreamingHttpResponse(
        written(runs),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="tweet-{id}.csv"'},
    )


class Echo:
    """What csv writes to: it hands each line back."""

    def write(self, line: str) -> str:
        return line


def written(runs: list[Run]) -> Iterator[str]:
    writer = csv.writer(Echo())
    yield writer.writerow(("tweet_id", "taken_at", "measured_until", "measurements", *METRICS))
    for run in runs:
        yield writer.writerow(
            (
                run.tweet_id,
                run.taken_at.isoformat(),
                run.measured_until.isoformat(),
                run.measurements,
                *(getattr(run, metric) for metric in METRICS),
            )
        )
