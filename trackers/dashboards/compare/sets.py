"""The page that compares sets of tweets in the same period. All that it shows is in its address."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from trackers.charts.line_chart import LINE_COLOURS, LINE_DASHES, Line, LineChart
from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.charts.pictures import PICTURES, InlineChart, as_picture, inline_chart
from trackers.dashboards.exports import as_file
from trackers.dashboards.set_links import set_of
from trackers.dashboards.set_query import SetQuery, parse_set_query
from trackers.listing.saved import matches_of_set
from trackers.listing.search_slots import ClientGone, NoFreeSlot
from trackers.schedule.intervals import current
from trackers.sets.compared import MAX_BY_AGE, ComparedSet, compared_set
from trackers.sets.kinds import SetKind, TweetSet, find_set
from trackers.sets.periods import Period
from trackers.sets.words import AGE_LABELS, PERIOD_LABELS, Card, cards_of, span_words
from trackers.standbys.requests import on_standby
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.labels import LABELS
from tweetwatch import notation
from tweetwatch.tables import Column, Table
from tweetwatch.time_limits import TookTooLong

MAX_SETS = 6
_CHARTS = ("age", "day")


@dataclass(frozen=True, slots=True)
class SetComparison:
    asked: SetQuery
    sets: list[ComparedSet]
    problems: list[str]

    @property
    def keys(self) -> list[str]:
        return [f"{one.of.kind}/{one.of.key}" for one in self.sets]

    def address(self, *, without: str = "", **changed: str) -> str:
        kept = [("set", key) for key in self.keys if key != without]
        query = self.asked.address(**changed)
        return "&".join(part for part in (urlencode(kept), query) if part)


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def compare_sets(request: HttpRequest) -> HttpResponse:
    now, _ = current()
    comparison = _read_sets(request, now=now)
    asked = comparison.asked
    context = {
        "now": now,
        "asked": asked,
        "found": comparison,
        "rows": _rows(comparison),
        "labels": [card.label for card in _cards(comparison)[0]] if comparison.sets else [],
        "charts": _drawn(comparison) if comparison.sets else [],
        "query": comparison.address(),
        "shared": _share_query(comparison),
        "kinds": [choice for choice in SetKind.choices if choice[0] != SetKind.ALL],
        "periods": [
            (label, comparison.address(period=name), name == asked.period.name)
            for name, label in PERIOD_LABELS.items()
        ],
        "ages": [
            (label, comparison.address(age=name), name == asked.age)
            for name, label in AGE_LABELS.items()
        ],
        "metrics": [
            (label, comparison.address(metric=name), name == asked.metric)
            for name, label in LABELS.items()
        ],
        "span": span_words(asked.period),
        "most": MAX_SETS,
        "most_by_age": MAX_BY_AGE,
        "is_full": len(comparison.sets) >= MAX_SETS,
    }
    return render(request, "dashboards/compare/sets.html", context)


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def sets_chart(request: HttpRequest, chart: str, form: str) -> HttpResponseBase:
    """One of _CHARTS as a picture, or what it shows as a table."""
    if chart not in _CHARTS:
        raise Http404(f"There is no chart {chart[:80]!r} of sets. Choose age or day.")
    now, _ = current()
    comparison = _read_sets(request, now=now)
    by_age = chart == "age"
    if form not in PICTURES:
        return as_file(request, _table(comparison, by_age=by_age), form)
    drawn = _age_chart(comparison) if by_age else _day_chart(comparison)
    return as_picture(request, drawn, form, name=f"compare-sets-{chart}")


def public_sets(sets: Iterable[TweetSet], asked: SetQuery) -> dict[str, LineChart]:
    """For strangers: by name, the charts of sets that are not saved views."""
    compared = [compared_set(of, asked.period, age=asked.age, metric=asked.metric) for of in sets]
    comparison = SetComparison(asked, compared, [])
    return dict(zip(_CHARTS, (_age_chart(comparison), _day_chart(comparison)), strict=True))


def _read_sets(request: HttpRequest, *, now: datetime) -> SetComparison:
    asked = parse_set_query(request.GET, notation.zone(), now=now)
    problems = [asked.problem] if asked.problem else []
    compared: dict[tuple[str, str], ComparedSet] = {}
    for of in _named_sets(request, problems):
        if (of.kind, of.key) in compared:
            continue
        if len(compared) == MAX_SETS:
            problems.append(f"At most {MAX_SETS} sets can be compared: the others are left out.")
            break
        try:
            compared[of.kind, of.key] = _compare(request, of, asked.period, asked, now=now)
        except (TookTooLong, NoFreeSlot, ClientGone):
            problems.append(f"{of.title}: the search took too long. Try again in a moment.")
    if len(compared) == 1:
        problems.append("There is nothing to compare this set with. Add another one below.")
    return SetComparison(asked, list(compared.values()), problems)


def _named_sets(request: HttpRequest, problems: list[str]) -> Iterator[TweetSet]:
    """Of `set=author/7`, and of what was typed into the form: `kind` and `key`."""
    names = [name.partition("/")[::2] for name in request.GET.getlist("set")[: MAX_SETS + 1]]
    if request.GET.get("key"):
        names.append((request.GET.get("kind", ""), request.GET["key"]))
    for kind, key in names:
        of = find_set(kind, _as_typed(kind, key), request.user)
        if of is None:
            problems.append(f"There is no set {kind[:20]} {key[:60]} that you may see.")
        else:
            yield of


def _as_typed(kind: str, key: str) -> str:
    """People know authors and tags by name."""
    text = key.strip()
    if text.isdigit() or text[:1] in ("@", "#"):
        return text
    return {SetKind.AUTHOR.value: "@", SetKind.TAG.value: "#"}.get(kind, "") + text


def _compare(
    request: HttpRequest, of: TweetSet, period: Period, asked: SetQuery, *, now: datetime
) -> ComparedSet:
    matches = matches_of_set(request, of, now=now)
    return compared_set(of, period, age=asked.age, metric=asked.metric, matches=matches)


def _cards(comparison: SetComparison) -> list[list[Card]]:
    asked = comparison.asked
    return [
        cards_of(one.this, one.before, of=one.of.address, age=asked.age, metric=asked.metric)
        for one in comparison.sets
    ]


def _rows(comparison: SetComparison) -> list[dict[str, object]]:
    return [
        {
            "place": place,
            "title": compared.of.title,
            "address": f"{set_of(compared.of.kind, compared.of.key)}?{comparison.asked.address()}",
            "cards": cards,
            "is_newest": compared.newest_since is not None,
            "without": comparison.address(without=f"{compared.of.kind}/{compared.of.key}"),
        }
        for place, (compared, cards) in enumerate(
            zip(comparison.sets, _cards(comparison), strict=True), 1
        )
    ]


def _share_query(comparison: SetComparison) -> str:
    """Of the form for a link to it; empty if that cannot be."""
    if len(comparison.sets) < 2 or any(one.of.kind == SetKind.VIEW for one in comparison.sets):
        return ""
    of, query = ",".join(comparison.keys), comparison.asked.address()
    return urlencode({"kind": "comparison", "of": of, "query": query})


def _drawn(comparison: SetComparison) -> list[tuple[str, InlineChart]]:
    charts = (_age_chart(comparison), _day_chart(comparison))
    return [(name, inline_chart(chart)) for name, chart in zip(_CHARTS, charts, strict=True)]


def _lines(drawn: Sequence[tuple[ComparedSet, list[float], list[float | None]]]) -> list[Line]:
    return [
        Line(one.of.title, LINE_COLOURS[place], xs, values, LINE_DASHES[place])
        for place, (one, xs, values) in enumerate(drawn)
    ]


def _age_chart(comparison: SetComparison) -> LineChart:
    label = LABELS[comparison.asked.metric]
    minute = timedelta(minutes=1)
    return LineChart(
        title=f"Median {label.lower()} by age",
        about=f"The medians of {len(comparison.sets)} sets, of their newest posts.",
        source=f"{span_words(comparison.asked.period)} · newest {MAX_BY_AGE} posts · tweetwatch",
        x="age",
        lines=_lines(
            [
                (one, [age / minute for age in one.by_age], [*one.by_age.values()])
                for one in comparison.sets
            ]
        ),
        height=300,
    )


def _day_chart(comparison: SetComparison) -> LineChart:
    asked = comparison.asked
    label, at = LABELS[asked.metric], AGE_LABELS[asked.age]
    step = "hour" if asked.period.is_by_hour else "day"
    return LineChart(
        title=f"{label} at {at} by {step} of posting",
        about=f"The totals of {len(comparison.sets)} sets by {step}.",
        source=f"{span_words(asked.period)} · tweetwatch",
        x="time",
        lines=_lines(
            [
                (
                    one,
                    [step.span.since.timestamp() for step in one.steps],
                    [step.total for step in one.steps],
                )
                for one in comparison.sets
            ]
        ),
        height=300,
    )


def _table(comparison: SetComparison, *, by_age: bool) -> Table:
    metric = comparison.asked.metric
    if by_age:
        columns = [Column("set", "text"), Column("age_minutes", "number")]
        columns.append(Column(f"median_{metric}", "number"))
        return Table("compare-sets-age", columns, _age_rows(comparison))
    columns = [Column("set", "text"), Column("since", "time"), Column("posts", "whole")]
    columns.append(Column(f"{metric}_at_{comparison.asked.age}", "whole"))
    return Table("compare-sets-day", columns, _day_rows(comparison))


def _age_rows(comparison: SetComparison) -> Iterator[tuple[object, ...]]:
    for one in comparison.sets:
        for age in AGES:
            if age in one.by_age:
                yield one.of.title, age / timedelta(minutes=1), one.by_age[age]


def _day_rows(comparison: SetComparison) -> Iterator[tuple[object, ...]]:
    for one in comparison.sets:
        for step in one.steps:
            yield one.of.title, step.span.since, step.posts, step.total
