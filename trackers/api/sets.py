"""Sets of tweets in the API: a period's figures beside those of the period before, as their page
shows them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any, Literal
from zoneinfo import ZoneInfo

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema

from trackers.api.wire.auth import VIEW_TWEETS, require_permission
from trackers.api.wire.fields import DigitsOut, KindName, MetricName, SpanOut, TimeOut, ZoneName
from trackers.listing.saved import matches_of_set
from trackers.listing.search_slots import ClientGone, NoFreeSlot
from trackers.sets.figures import Part, Summary
from trackers.sets.kinds import TweetSet, find_set, permission_for
from trackers.sets.members import Members
from trackers.sets.period_figures import PeriodFigures, default_age, period_figures
from trackers.sets.periods import Period, TimeSpan, custom_period, named_period
from trackers.sets.posts import Post
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import METRICS
from tweetwatch.clock_times import iso
from tweetwatch.http.refusals import Refused
from tweetwatch.notation import is_known_zone

router = Router(tags=["sets"])
_TOO_MANY_SEARCHES = "Other searches are running. Try again in a moment."
_DEFAULT_PERIOD = "7d"

KindOfSet = Literal["all", "author", "source", "tag", "view", "hashtag", "domain", "language"]


class SummaryOut(Schema):
    """Of `posts`, `old_enough` have reached the age, and of `measured` the metric is known there;
    the rest is of these. `rate`: engagements ÷ views; `above`: the share of the `scored` posts with
    at least twice what is usual. Null: not known, or too few."""

    posts: int
    old_enough: int
    measured: int
    total: dict[MetricName, int | None]
    median: dict[MetricName, float | None]
    rate: float | None
    scored: int
    above: float | None


class StepOut(Schema):
    """A day of the period, or an hour of the last 24, beside the one before it is compared with;
    `total` is that of the metric. Null: not known."""

    since: TimeOut
    until: TimeOut
    posts: int | None
    total: int | None
    posts_before: int | None
    total_before: int | None


class ListedOut(Schema):
    """A post with its `count` of the metric at the age, and how many times what was usual."""

    id: DigitsOut
    count: int | None
    score: float | None
    expected: float | None


class PartOut(Schema):
    posts: int
    measured: int
    median: float | None
    rate: float | None


class KindPartOut(PartOut):
    kind: KindName


class AuthorPartOut(PartOut):
    author: DigitsOut


class LanguagePartOut(PartOut):
    language: str


class ClassOut(Schema):
    """Posts with at least `low` and less than `high` of the metric."""

    low: int
    high: int
    posts: int


class HourOut(Schema):
    """An hour of the week, Monday is 0, with its posts of the last 90 days; `median`: null for
    fewer than five."""

    weekday: int
    hour: int
    posts: int
    median: float | None


class PeriodOut(Schema):
    """`summed`: `this`, `before` and `steps` are of more posts than are read, and the median is
    known of `metric` alone, to two digits. `newest_since`: null if all posts of the period were
    read; else what is not summed, and `above`, is of those since then. `before`: null where nothing
    can be compared."""

    kind: KindOfSet
    key: str
    title: str
    zone: str
    period: SpanOut
    period_before: SpanOut
    age: str
    metric: MetricName
    this: SummaryOut
    before: SummaryOut | None
    newest_since: TimeOut | None
    summed: bool
    steps: list[StepOut]
    best: list[ListedOut]
    worst: list[ListedOut]
    distribution: list[ClassOut]
    kinds: list[KindPartOut]
    authors: list[AuthorPartOut]
    languages: list[LanguagePartOut]
    hours: list[HourOut]


@router.get("/{kind}/{key}/period", response=PeriodOut)
def period_of_set(
    request: HttpRequest,
    kind: KindOfSet,
    key: str,
    period: Literal["24h", "7d", "30d", "90d"] | None = None,
    since: date | None = None,
    until: date | None = None,
    age: Literal["1h", "24h", "7d"] | None = None,
    metric: MetricName = "views",
    zone: ZoneName = "UTC",
) -> dict[str, Any]:
    """Of the posts of a period, at the same `age`. `key`: the id of an author, a source, a tag or
    one's own saved view; a hashtag, a domain, a language; `all`. An author is found by `@name`,
    too, and a tag by `#name`. The period is the one of that name, seven days if none is given, or
    whole days from `since` to `until` in the `zone`."""
    require_permission(request, VIEW_TWEETS)
    user = require_permission(request, permission_for(kind))
    of = find_set(kind, key, user)
    if of is None:
        raise LookupError(f"There is no set {kind} {key[:80]}.")
    asked = _period_in(period, since, until, zone)
    figures = period_figures(
        of,
        asked,
        age=age or default_age(asked.name),
        metric=metric,
        matches=_matches_of(request, of, asked),
    )
    return _period_json(of, figures, zone)


def _period_in(name: str | None, since: date | None, until: date | None, zone: str) -> Period:
    if not is_known_zone(zone):
        raise ValueError("zone: the name of a time zone, such as Europe/Berlin.")
    now = timezone.now()
    if since is None and until is None:
        return named_period(name or _DEFAULT_PERIOD, ZoneInfo(zone), now=now)
    if name or since is None or until is None:
        raise ValueError("A period has a name, or both since and until.")
    return custom_period(since, until, ZoneInfo(zone), now=now)


def _matches_of(request: HttpRequest, of: TweetSet, period: Period) -> Members | None:
    try:
        return matches_of_set(request, of, now=period.now)
    except (NoFreeSlot, ClientGone):
        raise Refused(503, _TOO_MANY_SEARCHES) from None


def _period_json(of: TweetSet, figures: PeriodFigures, zone: str) -> dict[str, Any]:
    period, heat = figures.period, figures.heat
    return {
        "kind": of.kind.value,
        "key": of.key,
        "title": of.title,
        "zone": zone,
        "period": _span_json(period.this),
        "period_before": _span_json(period.before),
        "age": figures.age,
        "metric": figures.metric,
        "this": _summary_json(figures.this),
        "before": _summary_json(figures.before) if figures.before else None,
        "newest_since": iso(figures.newest_since) if figures.newest_since else None,
        "summed": figures.is_summed,
        "steps": [
            {
                **_span_json(step.span),
                "posts": step.posts,
                "total": step.total,
                "posts_before": step.posts_before,
                "total_before": step.total_before,
            }
            for step in figures.steps
        ],
        "best": [_listed_json(post) for post in figures.best],
        "worst": [_listed_json(post) for post in figures.worst],
        "distribution": [
            {"low": one.low, "high": one.high, "posts": one.posts} for one in figures.distribution
        ],
        "kinds": _parts_json(figures.kinds, "kind", lambda key: PostKind(key).name.lower()),
        "authors": _parts_json(figures.authors, "author", str),
        "languages": _parts_json(figures.languages, "language", str),
        "hours": [
            {
                "weekday": day,
                "hour": hour,
                "posts": heat.posts[day][hour],
                "median": heat.medians[day][hour],
            }
            for day in range(7)
            for hour in range(24)
            if heat.posts[day][hour]
        ],
    }


def _span_json(span: TimeSpan) -> dict[str, str | None]:
    return {"since": iso(span.since), "until": iso(span.until)}


def _summary_json(of: Summary) -> dict[str, Any]:
    return {
        "posts": of.posts,
        "old_enough": of.old_enough,
        "measured": of.measured,
        "total": {metric: of.total[metric] for metric in METRICS},
        "median": {metric: of.median[metric] for metric in METRICS},
        "rate": of.rate,
        "scored": of.scored,
        "above": of.above,
    }


def _listed_json(post: Post) -> dict[str, Any]:
    scored = post.scored
    return {
        "id": post.id,
        "count": scored.actual if scored else None,
        "score": scored.score if scored else None,
        "expected": scored.expected if scored else None,
    }


def _parts_json(parts: list[Part], name: str, said: Callable[[Any], str]) -> list[dict[str, Any]]:
    return [
        {
            name: said(part.key),
            "posts": part.posts,
            "measured": part.measured,
            "median": part.median,
            "rate": part.rate,
        }
        for part in parts
    ]
