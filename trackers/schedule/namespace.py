"""The queue of tweets waiting for their next look-up: `updater` declares it, sources fill it."""

from __future__ import annotations

from trackers.jobs.names import TWEET_UPDATE

__all__ = ["TWEET_UPDATE"]
