"""The charts of a set's page: each as a picture, and what it shows as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from trackers.charts.bars import Bar, BarChart
from trackers.charts.heat_map import HeatChart, level_of
from trackers.charts.line_chart import Line, LineChart, NamedMark
from trackers.charts.png import Chart
from trackers.charts.scales import shortened
from trackers.notes.models import Note
from trackers.sets.figures import Part, Step
from trackers.sets.kinds import TweetSet
from trackers.sets.period_figures import PeriodFigures
from trackers.sets.words import (
    AGE_LABELS,
    KIND_WORDS,
    WEEKDAYS,
    before_words,
    percent,
    short_count,
    span_words,
)
from trackers.tweets.kinds import PostKind
from trackers.tweets.labels import LABELS
from tweetwatch.amounts import amount
from tweetwatch.notation import weekdays
from tweetwatch.tables import Column, Table

# Which part of its day each bar takes: that of the period before stands behind.
_BEFORE, _THIS = (0.08, 0.5), (0.34, 0.92)
_HOURS_SAID = 3


@dataclass(frozen=True, slots=True)
class SetCharts:
    """All that is drawn of a set in a period."""

    of: TweetSet
    figures: PeriodFigures
    notes: list[Note]
    authors: Mapping[int, str]  # the names of those in the parts

    @property
    def _source(self) -> str:
        """Below each heading: whose figures, and of when."""
        return f"{self.of.title} · {span_words(self.figures.period)} · tweetwatch"

    @property
    def _label(self) -> str:
        return LABELS[self.figures.metric]

    def draw(self, name: str) -> Chart:
        return _CHARTS[name][0](self)

    def table(self, name: str) -> Table:
        columns, rows = _CHARTS[name][1](self)
        return Table(f"{self.of.kind}-{self.of.key}-{name}", columns, iter(rows))

    def _by_step(self, title: str, colour: str, *, is_total: bool) -> LineChart:
        period = self.figures.period
        steps = self.figures.steps
        lengths = [step.span.until - step.span.since for step in steps]
        # Today is drawn as wide as the others, however early it is.
        lengths[-1] = max(lengths)
        now, before = (
            [_value(step, is_total=is_total, is_before=is_before) for step in steps]
            for is_before in (False, True)
        )
        lines = [Line("this period", colour, *_bars(steps, lengths, now, _THIS))]
        if any(value is not None for value in before):
            against = Line(before_words(period), "soft", *_bars(steps, lengths, before, _BEFORE))
            lines.insert(0, against)
        known = [value for value in now if value is not None]
        return LineChart(
            title=title,
            about=_about(title, known),
            source=self._source,
            x="time",
            lines=lines,
            marks=[NamedMark(note.at.timestamp(), 0, f"Note: {note.text}") for note in self.notes],
            has_bars=True,
            span=(
                steps[0].span.since.timestamp(),
                (steps[-1].span.since + lengths[-1]).timestamp(),
            ),
            height=220,
        )

    def posts_chart(self) -> LineChart:
        return self._by_step(f"Posts by {self.step_word}", "views", is_total=False)

    def total_chart(self) -> LineChart:
        age = AGE_LABELS[self.figures.age]
        title = f"{self._label} at {age} by {self.step_word} of posting"
        return self._by_step(title, self.figures.metric, is_total=True)

    @property
    def step_word(self) -> str:
        return "hour" if self.figures.period.is_by_hour else "day"

    def times_chart(self) -> HeatChart:
        heat = self.figures.heat
        known = sorted(value for row in heat.medians for value in row if value is not None)
        age = AGE_LABELS[self.figures.age]
        return HeatChart(
            title=f"Median {self._label.lower()} at {age} by weekday and hour of posting",
            about=f"Of {amount(heat.measured, 'post')}; pale: fewer than five posts.",
            rows=[WEEKDAYS[day] for day in weekdays()],
            columns=[str(hour) if hour % _HOURS_SAID == 0 else "" for hour in range(24)],
            levels=[[level_of(value, known) for value in heat.medians[day]] for day in weekdays()],
            source=f"{self.of.title} · 90 days · pale: fewer than five posts · tweetwatch",
            colour=self.figures.metric,
        )

    def distribution_chart(self) -> BarChart:
        classes = self.figures.distribution
        title = f"Posts by their {self._label.lower()} at {AGE_LABELS[self.figures.age]}"
        return BarChart(
            title=title,
            about=f"{title}: {amount(len(classes), 'class', 'classes')}.",
            bars=[
                Bar(f"{shortened(one.low)}–{shortened(one.high)}", one.posts, f"{one.posts:,}")
                for one in classes
            ],
            source=self._source,
            colour=self.figures.metric,
        )

    def _parts_chart(
        self, what: str, parts: Iterable[Part], name: Callable[[Part], str]
    ) -> BarChart:
        listed = list(parts)
        return BarChart(
            title=f"Posts by {what}",
            about=f"Posts by {what}: {amount(len(listed), 'bar')}.",
            bars=[
                Bar(
                    name(part),
                    part.posts,
                    f"{part.posts:,} · median {short_count(part.median)} · {percent(part.rate)}",
                )
                for part in listed
            ],
            source=self._source,
            colour=self.figures.metric,
        )

    def kinds_chart(self) -> BarChart:
        return self._parts_chart("kind", self.figures.kinds, kind_name)

    def authors_chart(self) -> BarChart:
        return self._parts_chart("author", self.figures.authors, self.author_name)

    def languages_chart(self) -> BarChart:
        return self._parts_chart("language", self.figures.languages, lambda part: str(part.key))

    def author_name(self, part: Part) -> str:
        id = part.key
        assert isinstance(id, int)
        return self.authors.get(id, f"author {id}")

    def step_rows(self) -> tuple[list[Column], Iterator[tuple[object, ...]]]:
        metric = self.figures.metric
        columns = [
            Column("since", "time"),
            Column("until", "time"),
            Column("posts", "whole"),
            Column(f"{metric}_at_{self.figures.age}", "whole"),
            Column("since_before", "time"),
            Column("posts_before", "whole"),
            Column(f"{metric}_before", "whole"),
        ]
        rows = (
            (
                *(step.span.since, step.span.until, step.posts, step.total),
                *(step.before.since, step.posts_before, step.total_before),
            )
            for step in self.figures.steps
        )
        return columns, rows

    def time_rows(self) -> tuple[list[Column], Iterator[tuple[object, ...]]]:
        heat = self.figures.heat
        columns = [
            Column("weekday", "text"),
            Column("hour", "whole"),
            Column("posts", "whole"),
            Column(f"median_{self.figures.metric}_at_{self.figures.age}", "number"),
        ]
        rows = (
            (WEEKDAYS[day], hour, heat.posts[day][hour], heat.medians[day][hour])
            for day in range(7)
            for hour in range(24)
        )
        return columns, rows

    def class_rows(self) -> tuple[list[Column], Iterator[tuple[object, ...]]]:
        metric = f"{self.figures.metric}_at_{self.figures.age}"
        columns = [
            Column(f"{metric}_from", "whole"),
            Column(f"{metric}_below", "whole"),
            Column("posts", "whole"),
        ]
        return columns, ((one.low, one.high, one.posts) for one in self.figures.distribution)

    def part_rows(
        self, what: str, parts: Iterable[Part], name: Callable[[Part], str]
    ) -> tuple[list[Column], Iterator[tuple[object, ...]]]:
        columns = [
            Column(what, "text"),
            Column("posts", "whole"),
            Column("measured", "whole"),
            Column(f"median_{self.figures.metric}_at_{self.figures.age}", "number"),
            Column("engagement_rate", "number"),
        ]
        rows = ((name(part), part.posts, part.measured, part.median, part.rate) for part in parts)
        return columns, rows


def _about(title: str, known: list[int]) -> str:
    if not known:
        return f"{title}: nothing is known."
    return f"{title}: {shortened(sum(known))} in all, at most {shortened(max(known))} in one."


def kind_name(part: Part) -> str:
    assert isinstance(part.key, int)
    return KIND_WORDS[PostKind(part.key)]


def _value(step: Step, *, is_total: bool, is_before: bool) -> int | None:
    if is_before:
        return step.total_before if is_total else step.posts_before
    return step.total if is_total else step.posts


def _bars(
    steps: Iterable[Step],
    lengths: Iterable[timedelta],
    values: Iterable[int | None],
    place: tuple[float, float],
) -> tuple[list[float], list[float | None]]:
    """Where each bar begins, and where it ends: there nothing follows."""
    begin, end = place
    xs: list[float] = []
    drawn: list[float | None] = []
    for step, length, value in zip(steps, lengths, values, strict=True):
        xs += [(step.span.since + length * share).timestamp() for share in (begin, end)]
        drawn += [value, None]
    return xs, drawn


Rows = tuple[list[Column], Iterator[tuple[object, ...]]]
_CHARTS: dict[str, tuple[Callable[[SetCharts], Chart], Callable[[SetCharts], Rows]]] = {
    "posts": (SetCharts.posts_chart, SetCharts.step_rows),
    "total": (SetCharts.total_chart, SetCharts.step_rows),
    "times": (SetCharts.times_chart, SetCharts.time_rows),
    "distribution": (SetCharts.distribution_chart, SetCharts.class_rows),
    "kinds": (
        SetCharts.kinds_chart,
        lambda drawn: drawn.part_rows("kind", drawn.figures.kinds, kind_name),
    ),
    "authors": (
        SetCharts.authors_chart,
        lambda drawn: drawn.part_rows("author", drawn.figures.authors, drawn.author_name),
    ),
    "languages": (
        SetCharts.languages_chart,
        lambda drawn: drawn.part_rows(
            "language", drawn.figures.languages, lambda part: str(part.key)
        ),
    ),
}
SET_CHARTS = tuple(_CHARTS)
