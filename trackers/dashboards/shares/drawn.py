"""What a share shows: a title, a few figures, charts, and where the post is on X. No texts, nothing
of the installation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.http import QueryDict

from trackers.charts.png import Chart
from trackers.dashboards.compare.sets import public_sets
from trackers.dashboards.compare.views import public_comparison
from trackers.dashboards.scores import score_pill
from trackers.dashboards.set_query import parse_set_query
from trackers.dashboards.tweets.chart_views import public_chart
from trackers.dashboards.words import commas
from trackers.notes.models import notes_of
from trackers.schedule.intervals import current
from trackers.scores.read import main_score, scores_of
from trackers.sets.charts import SetCharts
from trackers.sets.kinds import SetKind, TweetSet, find_set
from trackers.sets.period_figures import period_figures
from trackers.sets.words import Card, cards_of, span_words
from trackers.shares.models import Share
from trackers.tweets.engagement import engagement_rate
from trackers.tweets.labels import LABELS
from trackers.tweets.models import Author, Tweet
from tweetwatch.notation import to_the_minute

# Of a set; the first is what is embedded.
_SET_CHARTS = ("total", "posts", "distribution")


@dataclass(frozen=True, slots=True)
class SharedFigure:
    label: str
    value: str
    beside: str = ""  # what it is compared with


@dataclass(frozen=True, slots=True)
class SharedPost:
    """Whose it is, and where."""

    author: str
    handle: str
    profile: str
    posted: str
    url: str


@dataclass(frozen=True, slots=True)
class SharedProfile:
    """Whose posts a set has, and where they are on X."""

    author: str
    handle: str
    url: str


@dataclass(frozen=True, slots=True)
class SharedView:
    title: str
    as_of: str
    figures: tuple[SharedFigure, ...]
    charts: Mapping[str, Chart]
    posts: tuple[SharedPost, ...] = ()
    profiles: tuple[SharedProfile, ...] = ()
    alts: Mapping[str, str] = field(default_factory=dict)


def shared_view(share: Share) -> SharedView:
    """Of a share that `find_share` returned."""
    match share.kind:
        case Share.Kind.TWEET:
            return _of_tweet(share)
        case Share.Kind.COMPARISON:
            return _of_sets(share) if share.set_addresses else _of_comparison(share)
    return _of_set(share)


def _of_tweet(share: Share) -> SharedView:
    now, plan = current()
    tweet = Tweet.objects.select_related("author", "tweettext").get(pk=int(share.of))
    chart = public_chart(
        tweet, QueryDict(share.query), with_notes=share.with_notes, plan=plan, now=now
    )
    scores = scores_of([tweet.pk])[tweet.pk]
    figures = []
    for metric, label in LABELS.items():
        if (count := getattr(tweet, metric)) is None:
            continue
        scored = main_score(scores, metric)
        pill = score_pill(scored)
        beside = f"{pill.words}, {pill.usually}" if pill and pill.words else ""
        figures.append(SharedFigure(label, commas(count), beside))
    if (rate := engagement_rate(tweet)) is not None:
        figures.append(SharedFigure("Engagement rate", f"{rate:.1%}"))
    return SharedView(
        title=share.title or f"A post of {tweet.author}",
        as_of=to_the_minute(tweet.measured_until) if tweet.measured_until else "",
        figures=tuple(figures),
        charts={"curve": chart},
        posts=(_post_of(tweet),),
        alts={"curve": chart.about},
    )  # fmt: skip


def _of_comparison(share: Share) -> SharedView:
    tweets = Tweet.objects.select_related("author").in_bulk(share.tweet_ids)
    chart = public_comparison(_public_query(share))
    now, _ = current()
    return SharedView(
        title=share.title or chart.title,
        as_of=_as_of(now),
        figures=(),
        charts={"curves": chart},
        posts=tuple(_post_of(tweets[id]) for id in share.tweet_ids if id in tweets),
        alts={"curves": chart.about},
    )


def _public_query(share: Share) -> QueryDict:
    """Of the tweets that were checked alone; without sources, which are of this installation, and
    without a band of an author whose posts are protected."""
    query = QueryDict(share.query, mutable=True)
    query["ids"] = share.of
    query.pop("source", None)
    author = query.get("author", "")
    is_id = author.isascii() and author.isdigit() and len(author) < 19
    is_open = is_id and Author.objects.filter(pk=int(author), protected=False).exists()
    if not is_open:
        query.pop("author", None)
    return query


def _post_of(tweet: Tweet) -> SharedPost:
    handle = tweet.author.username if tweet.author else ""
    return SharedPost(
        author=(tweet.author and tweet.author.name) or handle,
        handle=f"@{handle}" if handle else "",
        profile=f"https://x.com/{handle}" if handle else "",
        posted=to_the_minute(tweet.created_at) if tweet.created_at else "",
        url=f"https://x.com/{handle or 'i'}/status/{tweet.newest or tweet.pk}",
    )


def _profiles_of(sets: list[TweetSet]) -> tuple[SharedProfile, ...]:
    """Those of the sets that are an author's, in their order."""
    ids = [int(of.key) for of in sets if of.kind == SetKind.AUTHOR]
    authors = Author.objects.in_bulk(ids)
    named = [authors[id] for id in ids if id in authors and authors[id].username]
    return tuple(
        SharedProfile(one.name or one.username, f"@{one.username}", f"https://x.com/{one.username}")
        for one in named
    )


def _of_set(share: Share) -> SharedView:
    now, _ = current()
    kind, _, key = share.of.partition("/")
    of = find_set(kind, key, share.made_by)
    if of is None:
        return SharedView(share.title or "Nothing", "", (), {})
    asked = parse_set_query(QueryDict(share.query), UTC, now=now)
    figures = period_figures(of, asked.period, age=asked.age, metric=asked.metric)
    span = asked.period.this
    notes = notes_of(of.kind.value, of.key, (span.since, span.until)) if share.with_notes else []
    drawn = SetCharts(of, figures, notes, {})
    charts = {name: drawn.draw(name) for name in _SET_CHARTS}
    shown = cards_of(figures.this, figures.before, of=share.of, age=asked.age, metric=asked.metric)
    return SharedView(
        title=share.title or of.title,
        as_of=f"{span_words(asked.period)}, {_as_of(now)}",
        figures=tuple(map(_card_figure, shown)),
        charts=charts,
        profiles=_profiles_of([of]),
        alts={name: chart.title for name, chart in charts.items()},
    )


def _of_sets(share: Share) -> SharedView:
    now, _ = current()
    named = (address.partition("/") for address in share.set_addresses)
    found = (find_set(kind, key, share.made_by) for kind, _, key in named)
    sets = [of for of in found if of is not None]
    charts = public_sets(sets, parse_set_query(QueryDict(share.query), UTC, now=now))
    return SharedView(
        title=share.title or " · ".join(of.title for of in sets),
        as_of=_as_of(now),
        figures=(),
        charts=charts,
        profiles=_profiles_of(sets),
        alts={name: chart.about for name, chart in charts.items()},
    )


def _card_figure(card: Card) -> SharedFigure:
    beside = f"{card.change}; before: {card.before}" if card.change else ""
    return SharedFigure(card.label, card.words, beside)


def _as_of(now: datetime) -> str:
    return f"as of {to_the_minute(now)}"
