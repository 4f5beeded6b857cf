"""How many tweets there are, by what has become of them."""

from __future__ import annotations

from trackers.tweets.models import Tweet


def counts() -> dict[str, int]:
    """tracked, gone, paused; the last two come from partial indexes."""
    return {
        "tracked": Tweet.objects.count(),
        "gone": Tweet.objects.gone().count(),
        "paused": Tweet.objects.paused().count(),
    }
