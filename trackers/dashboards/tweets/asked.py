"""What the address of a tweet asks for: which one, and what of its curve."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.http import Http404, QueryDict

from trackers.dashboards.tweets.curve import FIRST_DAY, RANGES, VIEWS
from trackers.tweets.labels import LABELS
from trackers.tweets.models import Tweet

_SCALES = ("log", "linear")
# Curves on one axis: where one has so many times the counts of another, a linear one hides it.
_WIDE = 100
_SLIVER = timedelta(hours=2)


@dataclass(frozen=True, slots=True)
class CurveQuery:
    """What the address asks for of the curve; nonsense is ignored, and what it leaves out depends
    on the tweet."""

    range: str
    view: str
    scale: str  # empty: as the counts suggest
    metrics: tuple[str, ...]
    is_log: bool
    # What the address has, so that links do not grow.
    named: tuple[tuple[str, str], ...] = ()

    def address(self, **changed: str | None) -> str:
        """The query of the same page with another range, view, scale or metric."""
        return urlencode(
            [(name, value) for name, value in (dict(self.named) | changed).items() if value],
            safe=",",
        )

    def toggled(self, metric: str) -> str:
        """The query with this curve, or without it; one is left."""
        others = [one for one in self.metrics if one != metric]
        chosen = others if metric in self.metrics else [*self.metrics, metric]
        return self.address(metric=",".join(one for one in LABELS if one in chosen) or metric)

    def since(self, now: datetime) -> datetime | None:
        """Where its range begins; None: with the tweet."""
        length = RANGES[self.range].length
        return now - length if length else None


def parse_curve_query(query: QueryDict, tweet: Tweet, *, now: datetime) -> CurveQuery:
    asked = {name: query.get(name, "") for name in ("range", "view", "scale", "metric")}
    named = re.split(r"[\s,]+", asked["metric"])
    chosen = tuple(metric for metric in LABELS if metric in named)
    valid = {
        "range": asked["range"] if asked["range"] in RANGES else "",
        "view": asked["view"] if asked["view"] in VIEWS else "",
        "scale": asked["scale"] if asked["scale"] in _SCALES else "",
        "metric": ",".join(chosen),
    }
    metrics = chosen or (next((one for one in LABELS if getattr(tweet, one) is not None), "views"),)
    view = valid["view"] or "totals"
    return CurveQuery(
        range=valid["range"] or _usual_range(tweet, now),
        view=view,
        scale=valid["scale"],
        metrics=metrics,
        is_log=valid["scale"] == "log"
        or (not valid["scale"] and view == "totals" and _differ_widely(tweet, metrics)),
        named=tuple(valid.items()),
    )


def _usual_range(tweet: Tweet, now: datetime) -> str:
    """Its first day, once its curve is more than a sliver of that."""
    age = now - tweet.created_at if tweet.created_at else timedelta(0)
    return FIRST_DAY if _SLIVER <= age < timedelta(days=1) else "all"


def _differ_widely(tweet: Tweet, metrics: tuple[str, ...]) -> bool:
    """Whether one of these counts is more than a hundred times another; nothing is not counted."""
    counts = [count for metric in metrics if (count := getattr(tweet, metric))]
    return len(counts) > 1 and max(counts) >= _WIDE * min(counts)


def get_tweet(id: int) -> Tweet:
    try:
        return Tweet.objects.select_related("author", "tweettext").get(pk=id)
    except (Tweet.DoesNotExist, OverflowError):
        raise Http404(f"Tweet {id} is not tracked.") from None
