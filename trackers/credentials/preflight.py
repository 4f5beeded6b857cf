"""The last moment before a request goes out: may it still be sent?

a Selection ─> valid tokens ─> is there time for the reply? ─> the keys to ask with

Everything that allows a request expires: the lease of its batch, the reservation in its window, the
days that are paid for, the task itself. Waiting and renewing tokens take some of that time. A
request whose reply could come too late is not sent: it would be paid for and lost, or one too many.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta

from trackers.credentials.models import Credential
from trackers.credentials.renew import tokens_of
from trackers.credentials.selection import Selection
from trackers.credentials.windows import UNDER_WAY_FOR
from trackers.jobs import task_time
from trackers.xapi.errors import NotReady


@contextmanager
def keys_for(
    selected: Selection,
    *,
    base_url: str,
    timeout: timedelta,
    ends: Mapping[str, float] | None = None,
) -> Iterator[Credential]:
    """The keys for the selection's one request; NotReady, with nothing sent, if it is too late.

    `ends`: by name, when other things that allow the request expire, by time.monotonic().
    """
    with tokens_of(selected.credential, base_url=base_url, timeout=timeout) as keys:
        check_time(selected, timeout=timeout, ends=ends)
        yield keys


def check_time(
    selected: Selection, *, timeout: timedelta, ends: Mapping[str, float] | None = None
) -> None:
    """NotReady when a reply could come too late. `ends` as in `keys_for`."""
    all_ends = {
        "the reservation in its window": selected.reserved_at + UNDER_WAY_FOR.total_seconds(),
        "the time of its task": task_time.reply_by(),
        **(ends or {}),
    }
    if late := _why_too_late(all_ends, now=time.monotonic(), timeout=timeout):
        raise NotReady(f"Not sent: {late} would end before the reply could arrive.", sent=False)


def _why_too_late(ends: Mapping[str, float], *, now: float, timeout: timedelta) -> str | None:
    """What would expire first while waiting for the reply; None when there is time."""
    first = min(ends, key=lambda name: ends[name])
    return first if ends[first] < now + timeout.total_seconds() else None
