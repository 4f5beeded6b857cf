"""Reading what someone set for one tweet: a state, fixed counts, or both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from fakex.world.seeded import Override, State
from fakex.world.traits import Counts

_V2_NAMES = {
    "retweet_count": "retweets",
    "reply_count": "replies",
    "like_count": "likes",
    "quote_count": "quotes",
    "bookmark_count": "bookmarks",
    "impression_count": "views",
}


def read_override(body: Mapping[str, Any]) -> Override:
    """From {"state": ..., "metrics": {"likes" or "like_count": n}}; ValueError if unknown."""
    state = body.get("state")
    if state is not None and state not in get_args(State):
        raise ValueError(f"state is one of {', '.join(get_args(State))}")
    metrics = body.get("metrics")
    if metrics is None:
        return Override(state)
    counts = {_V2_NAMES.get(name, name): int(value) for name, value in metrics.items()}
    if min(counts.values(), default=0) < 0:
        raise ValueError("metrics are 0 or more")
    if unknown := set(counts) - set(Counts._fields):
        raise ValueError(f"unknown metrics: {', '.join(sorted(unknown))}")
    return Override(state, counts)
