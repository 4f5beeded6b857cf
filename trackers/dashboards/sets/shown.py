"""What the page of a set shows of a period's figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest
from django.urls import reverse

from trackers.charts.heat_map import level_of
from trackers.dashboards.charts.pictures import inline_chart
from trackers.dashboards.scores import ScorePill, score_pill
from trackers.dashboards.words import Moment, ago, commas
from trackers.notes.models import Note, notes_of
from trackers.sets import words
from trackers.sets.charts import SetCharts, kind_name
from trackers.sets.figures import HeatMap, Part
from trackers.sets.kinds import TweetSet
from trackers.sets.period_figures import PeriodFigures
from trackers.sets.posts import Post
from trackers.tweets.models import Author, Tweet
from tweetwatch.notation import weekdays

_MOST_LETTERS = 120


@dataclass(frozen=True, slots=True)
class ListedPost:
    """One of the best or worst."""

    id: int
    text: str
    author: str
    born: Moment
    pill: ScorePill | None
    count: str


@dataclass(frozen=True, slots=True)
class PartRow:
    name: str
    address: str  # of its own page; empty if it has none
    posts: str
    share: int  # of the largest, in percent
    median: str
    rate: str


@dataclass(frozen=True, slots=True)
class HeatCell:
    level: int
    words: str
    title: str


def charts_of(request: HttpRequest, of: TweetSet, figures: PeriodFigures) -> SetCharts:
    notes: list[Note] = []
    if request.user.has_perm("trackers.view_note"):
        span = figures.period.this
        kind, key = (of.kind.value, of.key) if of.has_notes else (Note.Kind.DAY.value, "")
        notes = notes_of(kind, key, (span.since, span.until))
    ids = [part.key for part in figures.authors]
    named = Author.objects.in_bulk(ids) if ids else {}
    return SetCharts(of, figures, notes, {id: str(author) for id, author in named.items()})


def figures_context(
    request: HttpRequest, of: TweetSet, figures: PeriodFigures, *, now: datetime
) -> dict[str, object]:
    drawn = charts_of(request, of, figures)
    tweets = Tweet.objects.select_related("author", "tweettext").in_bulk(
        [post.id for post in (*figures.best, *figures.worst)]
    )
    return {
        "figures": figures,
        "cards": words.cards_of(
            figures.this, figures.before, of=of.address, age=figures.age, metric=figures.metric
        ),
        "waiting": words.waiting_words(figures),
        "limit": words.limit_words(figures),
        "step_word": drawn.step_word,
        "charts": {
            name: inline_chart(drawn.draw(name)) for name in ("posts", "total", "distribution")
        },
        "chart": reverse("set", args=[of.kind, of.key]),
        "heat": _heat_rows(figures.heat),
        "hours": range(24),
        "best_times": words.best_time_words(figures.best_times, figures.metric),
        "best": _listed_posts(figures.best, tweets, figures.metric, now=now),
        "worst": _listed_posts(figures.worst, tweets, figures.metric, now=now),
        "parts": [
            ("kinds", "By kind", _part_rows(figures.kinds, kind_name, None)),
            ("authors", "By author", _part_rows(figures.authors, drawn.author_name, "author")),
            (
                "languages",
                "By language",
                _part_rows(figures.languages, lambda part: str(part.key), "language"),
            ),
        ],
    }


def _heat_rows(heat: HeatMap) -> list[tuple[str, list[HeatCell]]]:
    known = sorted(value for row in heat.medians for value in row if value is not None)
    rows = []
    for day in weekdays():
        cells = []
        for posts, median in zip(heat.posts[day], heat.medians[day], strict=True):
            # In two digits: more would not fit, and a median of five says no more.
            said = words.short_count(float(f"{median:.2g}")) if median is not None else ""
            title = f"{posts:,} posts" if median is not None else f"{posts:,} posts: too few"
            cells.append(HeatCell(level_of(median, known), said, title))
        rows.append((words.WEEKDAYS[day], cells))
    return rows


def _listed_posts(
    posts: Iterable[Post], tweets: dict[int, Tweet], metric: str, *, now: datetime
) -> list[ListedPost]:
    listed = []
    for post in posts:
        tweet = tweets.get(post.id)
        if tweet is None:
            continue
        text = getattr(tweet, "tweettext", None)
        line = " ".join(text.displayed.split()) if text else str(post.id)
        count = getattr(post.counts, metric) if post.counts else None
        listed.append(
            ListedPost(
                id=post.id,
                text=line if len(line) <= _MOST_LETTERS else f"{line[: _MOST_LETTERS - 1]}…",
                author=str(tweet.author) if tweet.author else "",
                born=ago(post.at, now=now),
                pill=score_pill(post.scored),
                count=commas(count),
            )
        )
    return listed


def _part_rows(
    parts: Sequence[Part], name: Callable[[Part], str], kind: str | None
) -> list[PartRow]:
    most = max((part.posts for part in parts), default=1)
    return [
        PartRow(
            name=name(part),
            address=reverse("set", args=[kind, part.key]) if kind else "",
            posts=commas(part.posts),
            share=round(100 * part.posts / most),
            median=words.short_count(part.median),
            rate=words.percent(part.rate),
        )
        for part in parts
    ]
