"""Does X accept this credential? One real look-up, of a tweet that never existed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from trackers.credentials import selection
from trackers.credentials.models import Credential
from trackers.credentials.preflight import keys_for
from trackers.xapi import client
from trackers.xapi.errors import NotReady, Refused, XError
from trackers.xapi.results import WindowSeen

# Lower than any tweet's id: X says that it finds nothing, and bills nothing.
_NO_TWEET = 1


@dataclass(frozen=True, slots=True)
class CheckResult:
    name: str
    verdict: str  # ok, refused, or failed for anything that is not the fault of the keys
    reason: str
    window: WindowSeen | None

    @property
    def ok(self) -> bool:
        return self.verdict == "ok"

    def sentence(self) -> str:
        if not self.ok:
            return f"{self.verdict}: {self.reason}"
        left = self.window
        return "ok" if left is None else f"ok, {left.remaining} of {left.limit} requests left"

    def to_dict(self) -> dict[str, Any]:
        left = self.window
        return {
            "name": self.name,
            "verdict": self.verdict,
            "reason": self.reason,
            "limit": None if left is None else left.limit,
            "remaining": None if left is None else left.remaining,
            "resets_at": None if left is None else left.resets_at.isoformat(),
        }


def check(credential: Credential, *, base_url: str, timeout: timedelta) -> CheckResult:
    """Ask, and learn the window. A refusal is shown, here and in the credential's state."""
    try:
        return _try_credential(credential, base_url=base_url, timeout=timeout)
    except NotReady as error:
        if not error.sent:
            return CheckResult(credential.name, "failed", error.reason, None)
    try:
        # X just said that the access token had expired: this time it is renewed first.
        return _try_credential(credential, base_url=base_url, timeout=timeout)
    except NotReady as error:
        return CheckResult(credential.name, "failed", error.reason, None)


def _try_credential(credential: Credential, *, base_url: str, timeout: timedelta) -> CheckResult:
    """One request; NotReady when its tokens must be renewed first."""
    selected = selection.select_credential(only=credential.pk, by_hand=True)
    if isinstance(selected, selection.NoRoom | selection.NoCredential):
        return CheckResult(credential.name, "failed", selected.why, None)
    try:
        with keys_for(selected, base_url=base_url, timeout=timeout) as keys:
            answer = client.look_up(keys, [_NO_TWEET], base_url=base_url, timeout=timeout)
    except XError as error:
        selection.settle_failed(selected, error)
        if isinstance(error, NotReady):
            raise
        verdict = "refused" if isinstance(error, Refused) else "failed"
        return CheckResult(credential.name, verdict, error.reason, error.window)
    selection.settle_answered(selected, answer.window)
    return CheckResult(credential.name, "ok", "", answer.window)
