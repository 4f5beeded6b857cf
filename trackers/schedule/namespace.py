"""The queue of tweets waiting for their next look-up: `updater` declares it, sources fill it."""

from __future__ import annotations

TWEET_UPDATE = "tweet:update"
