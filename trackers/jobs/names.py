"""Names of queues that more than one part speaks of."""

from __future__ import annotations

# The tweets that wait for their next look-up: `updater` declares it, sources fill it.
TWEET_UPDATE = "tweet:update"
