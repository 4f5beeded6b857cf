"""What is left of each credential's rate limit at X: those in trouble first, then the scarcest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from trackers.credentials.models import Credential
from trackers.dashboards.words import Moment, ahead

_MAX_GAUGES = 8


@dataclass(frozen=True, slots=True)
class CredentialGauge:
    """Of the scarcest window that runs now."""

    id: int
    name: str
    state: str
    reason: str
    endpoint: str = ""
    limit: int = 0  # 0 without a window
    remaining: int = 0
    resets: Moment | None = None

    @property
    def left(self) -> float:
        return self.remaining / self.limit if self.limit else 1.0


def credential_gauges(
    credentials: Iterable[Credential], *, now: datetime, shown_above: Iterable[str]
) -> tuple[list[CredentialGauge], int]:
    """The first few, and how many more there are. A reason that was `said` above is left out."""
    above = " ".join(shown_above)
    gauges = [_credential_gauge(one, above, now=now) for one in credentials]
    gauges.sort(key=lambda one: (one.state == "ready", one.left, one.name))
    return gauges[:_MAX_GAUGES], max(0, len(gauges) - _MAX_GAUGES)


def _credential_gauge(credential: Credential, above: str, *, now: datetime) -> CredentialGauge:
    reason = "" if credential.reason in above else credential.reason
    who = (credential.pk, credential.name, credential.state, reason)
    running = [
        window_seen
        for window_seen in credential.told()
        if window_seen.resets_at > now and window_seen.limit
    ]
    if not running:
        return CredentialGauge(*who)
    window = min(running, key=lambda one: one.remaining / one.limit)
    resets = ahead(window.resets_at, now=now)
    return CredentialGauge(*who, window.endpoint, window.limit, window.remaining, resets)
