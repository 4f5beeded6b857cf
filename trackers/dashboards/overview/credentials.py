"""What is left of each credential's rate limit at X: those in trouble first, then the scarcest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from trackers.credentials.models import Credential
from trackers.dashboards.words import Moment, ahead

SHOWN_MOST = 8


@dataclass(frozen=True, slots=True)
class Gauge:
    """Of the scarcest window that runs now; without one, `limit` is 0."""

    id: int
    name: str
    state: str
    reason: str
    endpoint: str = ""
    limit: int = 0
    remaining: int = 0
    resets: Moment | None = None

    @property
    def left(self) -> float:
        return self.remaining / self.limit if self.limit else 1.0


def gauges(
    credentials: Iterable[Credential], *, now: datetime, said: Iterable[str]
) -> tuple[list[Gauge], int]:
    """The first few, and how many more there are. A reason that was `said` above is left out."""
    above = " ".join(said)
    found = [gauge(one, above, now=now) for one in credentials]
    found.sort(key=lambda one: (one.state == "ready", one.left, one.name))
    return found[:SHOWN_MOST], max(0, len(found) - SHOWN_MOST)


def gauge(credential: Credential, above: str, *, now: datetime) -> Gauge:
    reason = "" if credential.reason in above else credential.reason
    who = (credential.pk, credential.name, credential.state, reason)
    running = [one for one in credential.told() if one.resets_at > now and one.limit]
    if not running:
        return Gauge(*who)
    window = min(running, key=lambda one: one.remaining / one.limit)
    resets = ahead(window.resets_at, now=now)
    return Gauge(*who, window.endpoint, window.limit, window.remaining, resets)
