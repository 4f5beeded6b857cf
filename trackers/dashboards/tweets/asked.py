"""What the address of a tweet asks for: which one, and what of its curve."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.http import Http404, HttpRequest

from trackers.dashboards.tweet_rows import LABELS
from trackers.dashboards.tweets.curve import RANGES, VIEWS
from trackers.tweets.models import Tweet

# Whose curves are drawn unless the address says otherwise.
_DRAWN_METRICS = ("views", "likes", "retweets")


@dataclass(frozen=True, slots=True)
class CurveQuery:
    """What the address asks for of the curve; nonsense is ignored."""

    range: str
    view: str
    is_log: bool
    metrics: str | None

    def address(self, *, range: str | None = None, view: str | None = None) -> str:
        """The query of the same page with another range or view."""
        params = {
            "range": range or self.range,
            "view": view if (view := view or self.view) != "totals" else None,
            "scale": "log" if self.is_log else None,
            "metrics": self.metrics,
        }
        return urlencode({name: value for name, value in params.items() if value is not None})

    @property
    def shown_metrics(self) -> list[str]:
        """Whose curves are drawn at first: by name, with blanks between."""
        if self.metrics is None:
            return list(_DRAWN_METRICS)
        return [one for one in LABELS if one in self.metrics.split()]

    def since(self, now: datetime) -> datetime | None:
        """Where its range begins."""
        length = RANGES[self.range]
        return now - length if length else None


def parse_curve_query(request: HttpRequest) -> CurveQuery:
    range, view = request.GET.get("range", ""), request.GET.get("view", "")
    return CurveQuery(
        range=range if range in RANGES else "all",
        view=view if view in VIEWS else "totals",
        is_log=request.GET.get("scale") == "log",
        metrics=request.GET.get("metrics"),
    )


def get_tweet(id: int) -> Tweet:
    try:
        return Tweet.objects.select_related("author", "tweettext").get(pk=id)
    except (Tweet.DoesNotExist, OverflowError):
        raise Http404(f"Tweet {id} is not tracked.") from None
