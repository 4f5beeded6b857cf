"""What is usual for an author, by kind of post and age: the benchmarks that scores divide by."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from trackers.dashboards.words import commas
from trackers.scores.models import EVERY_KIND, Benchmark
from trackers.scores.rule import MIN_POSTS
from trackers.scores.words import usual_count
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.models import METRICS

# Of the eighteen; all of them are in the API.
_SHOWN_AGES = {
    timedelta(minutes=15): "15 min", timedelta(hours=1): "1 h", timedelta(hours=6): "6 h",
    timedelta(days=1): "24 h", timedelta(days=7): "7 d",
}  # fmt: skip
_PLACE_OF_DAY = AGES.index(timedelta(days=1))
# v1.1 shows no views.
_JUDGED_BY = ("views", "likes")


@dataclass(frozen=True, slots=True)
class BenchmarkLine:
    kind: str
    posts: str  # that were measured at 24 hours
    usual: tuple[str, ...]  # at each of the ages


@dataclass(frozen=True, slots=True)
class AuthorBenchmarks:
    metric: str  # views, or likes where X shows no views
    ages: tuple[str, ...]
    lines: tuple[BenchmarkLine, ...]  # of all kinds, then of each
    day: str  # what posts of all kinds have at 24 hours; empty: not known
    lacking: int  # how many more posts that takes


def author_benchmarks(author_id: int) -> AuthorBenchmarks:
    rows = list(Benchmark.objects.filter(author_id=author_id).order_by("kind"))
    metric = next((name for name in _JUDGED_BY if _is_known(rows, name)), _JUDGED_BY[0])
    place = METRICS.index(metric)
    of_all = next((row for row in rows if row.kind == EVERY_KIND), None)
    day = of_all.expected[place][_PLACE_OF_DAY] if of_all else None
    measured = of_all.posts[place][_PLACE_OF_DAY] if of_all else 0
    return AuthorBenchmarks(
        metric=metric,
        ages=tuple(_SHOWN_AGES.values()),
        lines=tuple(_line_of_kind(row, place) for row in rows if any(row.expected[place])),
        day="" if day is None else usual_count(day),
        lacking=max(0, MIN_POSTS - measured),
    )


def _is_known(rows: list[Benchmark], metric: str) -> bool:
    place = METRICS.index(metric)
    return any(expected is not None for row in rows for expected in row.expected[place])


def _line_of_kind(row: Benchmark, place: int) -> BenchmarkLine:
    return BenchmarkLine(
        kind="All kinds" if row.kind == EVERY_KIND else str(row.get_kind_display()),
        posts=commas(row.posts[place][_PLACE_OF_DAY]),
        usual=tuple(_usual_at(row, place, age) for age in _SHOWN_AGES),
    )


def _usual_at(row: Benchmark, place: int, age: timedelta) -> str:
    return usual_count(row.expected[place][AGES.index(age)])
