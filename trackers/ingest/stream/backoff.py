"""How long to wait before connecting to the stream again, as X prescribes.

Network trouble: 250 ms more each time, up to 16 s. Trouble at X: 5 s, doubled up to 320 s. Too many
requests or connections: a minute, doubled.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from trackers.xapi.errors import RateLimited, XError
from trackers.xapi.results import WindowSeen
from trackers.xapi.stream import Unreachable

Trouble = Literal["network", "http", "limited"]

_NETWORK_STEP, _MAX_NETWORK_WAIT = timedelta(milliseconds=250), timedelta(seconds=16)
_FIRST_WAIT: dict[Trouble, timedelta] = {
    "http": timedelta(seconds=5),
    "limited": timedelta(minutes=1),
}
# X's windows last a quarter of an hour.
_A_WINDOW = timedelta(minutes=16)
_MAX_WAIT: dict[Trouble, timedelta] = {"http": timedelta(seconds=320), "limited": _A_WINDOW}
_MAX_DOUBLINGS = 10


def wait_after(trouble: Trouble, tries: int) -> timedelta:
    """The wait after the `tries`th failure of this kind in a row; the first is 1."""
    if tries < 1:
        raise ValueError("The first failure is the first.")
    if trouble == "network":
        return min(_NETWORK_STEP * tries, _MAX_NETWORK_WAIT)
    return min(_FIRST_WAIT[trouble] * 2 ** min(tries - 1, _MAX_DOUBLINGS), _MAX_WAIT[trouble])


def at_most_a_window(wait: timedelta) -> timedelta:
    """The rest of a window, capped, since our wall clock may be hours off."""
    return min(wait, _A_WINDOW)


def trouble_of(error: XError) -> Trouble:
    if isinstance(error, Unreachable):
        return "network"
    return "limited" if isinstance(error, RateLimited) else "http"


def _jittered(wait: timedelta) -> timedelta:
    """Up to a quarter more, so that those cut off together do not come back together."""
    return wait * random.uniform(1.0, 1.25)


def spacing(window: WindowSeen | None) -> timedelta:
    """The least time between connects: none while over half of the window is left, else spread.

    X allows 50 in a quarter of an hour: with a connection that breaks every few seconds they would
    be used up, and nothing would be received for the rest of it.
    """
    if window is None or window.remaining * 2 > window.limit:
        return timedelta(0)
    # Without a Date it is unknown how much of the window is left: at most all of it.
    left = window.resets_at - window.seen_at if window.seen_at else _A_WINDOW
    return max(timedelta(0), at_most_a_window(left)) / (window.remaining + 1)


@dataclass(slots=True)
class Backoff:
    """How far reconnecting has backed off: failures of one kind in a row."""

    trouble: Trouble = "network"
    tries: int = 0

    def next(self, trouble: Trouble) -> timedelta:
        self.tries = self.tries + 1 if trouble == self.trouble else 1
        self.trouble = trouble
        return _jittered(wait_after(trouble, self.tries))

    def reset(self) -> None:
        self.tries = 0
