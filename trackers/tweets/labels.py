"""What people read instead of a metric's name."""

from __future__ import annotations

from trackers.tweets.models import METRICS

LABELS = {
    "views": "Views",
    "likes": "Likes",
    "retweets": "Retweets",
    "replies": "Replies",
    "quotes": "Quotes",
    "bookmarks": "Bookmarks",
}
assert set(LABELS) == set(METRICS)
