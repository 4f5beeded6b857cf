"""The engagement rate: the share of views that led to a like, retweet, reply, quote or bookmark."""

from __future__ import annotations

from django.db.models import F, Q

from trackers.tweets.models import Tweet

# Of fewer it says nothing.
MIN_VIEWS = 100
ACTS = ("likes", "retweets", "replies", "quotes", "bookmarks")
# Of a row of trackers_tweet called t.
ENGAGEMENT_RATE = (
    f"CASE WHEN t.views >= {MIN_VIEWS}"
    f" THEN ({' + '.join(f't.{metric}::float8' for metric in ACTS)}) / t.views END"
)


def engagement_rate(tweet: Tweet) -> float | None:
    """From 0 on, and above 1 where people act without a view that counts; None: not known."""
    acts = [getattr(tweet, metric) for metric in ACTS]
    if tweet.views is None or tweet.views < MIN_VIEWS or None in acts:
        return None
    return sum(acts) / tweet.views


def engaged_at_least(percent: float) -> Q:
    """The condition for a rate of so many percent."""
    acts = sum((F(metric) for metric in ACTS[1:]), F(ACTS[0]))
    return Q(views__gte=MIN_VIEWS, views__lte=acts * 100.0 / percent)
