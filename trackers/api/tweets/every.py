"""All calls about tweets, put into their routers by being imported."""

from __future__ import annotations

from trackers.api.tweets import acts, compared, detail, leaders, listing, past
from trackers.api.tweets.routers import many, single

__all__ = ["acts", "compared", "detail", "leaders", "listing", "many", "past", "single"]
