"""What a digest says of a set of tweets: its period's figures beside those of the period before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from urllib.parse import quote, urlencode

from django.contrib.auth.models import User

from trackers.charts.png import Chart
from trackers.ingest.sources.models import Source
from trackers.listing.saved import newest_matches
from trackers.notes.models import Note
from trackers.saved_views.models import SavedView
from trackers.sets.charts import SetCharts
from trackers.sets.kinds import ALL_KEY, SetKind, TweetSet, find_set, permission_for
from trackers.sets.period_figures import PeriodFigures, period_figures
from trackers.sets.periods import Period, custom_period
from trackers.sets.words import before_words, cards_of, span_words, waiting_words
from trackers.tweets.labels import LABELS
from trackers.tweets.models import Author, TweetText
from trackers.tweets.tags.models import Tag
from tweetwatch.time_limits import TookTooLong

_METRIC = "views"
_MOST_POSTS, _MAX_QUOTED = 3, 100
_DRAWN = ("posts", "total")
_ALL, _MOST_OFFERED = f"{SetKind.ALL.value}/{ALL_KEY}", 50
NOT_THERE = "The report's tweets are not there any more, or you may no longer see them."
TOOK_TOO_LONG = "The report took too long, and was left out. Its page may have it."


@dataclass(frozen=True, slots=True)
class FigureRow:
    label: str
    now: str
    before: str
    change: str  # empty where nothing can be compared


@dataclass(frozen=True, slots=True)
class PostRow:
    count: str
    text: str
    path: str


@dataclass(frozen=True, slots=True)
class Report:
    title: str
    # Which days, against which; or why there are no figures.
    about: str
    path: str = ""  # of its page; empty: there is none
    rows: tuple[FigureRow, ...] = ()
    waiting: str = ""
    posts: tuple[PostRow, ...] = ()
    charts: tuple[Chart, ...] = ()

    def sentences(self) -> Iterator[str]:
        """Without addresses."""
        yield self.about
        for row in self.rows:
            against = ", ".join(filter(None, (f"before {row.before}", row.change)))
            yield f"{row.label}: {row.now} ({against})"
        if self.waiting:
            yield self.waiting
        for post in self.posts:
            yield f"{post.count}: {post.text}"

    def lines(self, public_url: str) -> Iterator[str]:
        """As plain text."""
        told = list(self.sentences())
        first_post = len(told) - len(self.posts)
        yield from told[:first_post]
        for sentence, post in zip(told[first_post:], self.posts, strict=True):
            yield f"{sentence} {public_url}{post.path}"
        if self.path:
            yield f"{public_url}{self.path}"


def report_on(
    address: str, user: User, zone: tzinfo, *, until: date, days: int, now: datetime
) -> Report:
    """`address`: of the set, as "author/42"; `until`: the day after the last one."""
    of = find_set(*_parts_of(address), user)
    if of is None:
        return Report("Report", NOT_THERE)
    period = custom_period(until - timedelta(days=days), until - timedelta(days=1), zone, now=now)
    # Most posts of one day are not a day old yet.
    age = "24h" if days > 1 else "1h"
    try:
        matches = newest_matches(of.query, now=now) if of.kind == SetKind.VIEW else None
        figures = period_figures(of, period, age=age, metric=_METRIC, matches=matches)
    except TookTooLong:
        return Report(of.title, TOOK_TOO_LONG, _path(of, period, age))
    cards = cards_of(figures.this, figures.before, of=of.address, age=age, metric=_METRIC)
    return Report(
        title=of.title,
        about=f"{span_words(period)}, against {before_words(period)}.",
        path=_path(of, period, age),
        rows=tuple(FigureRow(card.label, card.words, card.before, card.change) for card in cards),
        waiting=waiting_words(figures) if figures.this.posts else "",
        posts=_best_posts(figures),
        charts=_charts(of, figures) if figures.this.posts else (),
    )


def offered_sets(user: User, chosen: set[str]) -> list[tuple[str, str | list[tuple[str, str]]]]:
    """What a form offers to report on: nothing, all tweets, what is chosen, and the first of what
    the person has."""
    views = [
        (f"{SetKind.VIEW.value}/{view.pk}", view.title)
        for view in SavedView.objects.seen_by(user)[:_MOST_OFFERED]
    ]
    sources = [
        (f"{SetKind.SOURCE.value}/{source.pk}", str(source))
        for source in Source.objects.order_by("pk")[:_MOST_OFFERED]
        if user.has_perm(permission_for(SetKind.SOURCE))
    ]
    tags = [
        (f"{SetKind.TAG.value}/{tag.pk}", tag.name)
        for tag in Tag.objects.live().order_by("name")[:_MOST_OFFERED]
    ]
    groups = [("Saved views", views), ("Sources", sources), ("Tags", tags)]
    offered = {"", _ALL} | {address for _, names in groups for address, _ in names}
    more = [
        (address, of.title)
        for address in sorted(chosen - offered)
        if (of := find_set(*_parts_of(address), user)) is not None
    ]
    return [
        ("", "nothing"),
        (_ALL, "all tweets"),
        *more,
        *((label, names) for label, names in groups if names),
    ]


def _parts_of(address: str) -> tuple[str, str]:
    kind, _, key = address.partition("/")
    return kind, key


def _path(of: TweetSet, period: Period, age: str) -> str:
    first, last = (
        f"{at.astimezone(period.zone):%Y-%m-%d}"
        for at in (period.this.since, period.steps[-1][0].since)
    )
    days = urlencode({"from": first, "until": last, "age": age})
    return f"/sets/{of.kind.value}/{quote(of.key, safe='')}/?{days}"


def _charts(of: TweetSet, figures: PeriodFigures) -> tuple[Chart, ...]:
    """Without notes: whoever may not read them gets the same."""
    notes: list[Note] = []
    drawn = SetCharts(of, figures, notes, {})
    return tuple(drawn.draw(name) for name in _DRAWN)


def _best_posts(figures: PeriodFigures) -> tuple[PostRow, ...]:
    rows = []
    for post in figures.best[:_MOST_POSTS]:
        count = getattr(post.counts, _METRIC) if post.counts else None
        counted = "–" if count is None else f"{count:,} {LABELS[_METRIC].lower()}"
        rows.append((post.id, post.author, counted))
    return post_rows(rows)


def post_rows(posts: Iterable[tuple[int, int | None, str]]) -> tuple[PostRow, ...]:
    """Of posts by their ids and those of their authors, with what is said of each."""
    chosen = list(posts)
    texts = TweetText.objects.in_bulk([id for id, _, _ in chosen])
    authors = Author.objects.in_bulk([author for _, author, _ in chosen if author is not None])
    rows = []
    for id, author, counted in chosen:
        text = " ".join(texts[id].displayed.split()) if id in texts else ""
        whose = f"{authors[author]}: " if author in authors else ""
        rows.append(PostRow(counted, f"{whose}{text[:_MAX_QUOTED]}", f"/tweets/{id}/"))
    return tuple(rows)
