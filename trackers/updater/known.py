"""What our rows say before X is asked: the time, the intervals, the tweets, and the money."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from trackers.schedule.intervals import CURRENT, Plan, read_current
from trackers.xapi.ledger import OF_TWEETS, PURSES, Purse, read_purses
from tweetwatch.database import array, ask


class Known(NamedTuple):
    """A tweet's birth, whether X showed it, and the last UTC day and project that paid for it."""

    created_at: datetime | None = None
    missing_since: datetime | None = None
    gone: bool = False
    measured: bool = False
    paid_on: date | None = None
    paid_by: int | None = None


NOTHING = Known()

# ANY(ARRAY): by the primary key whatever the statistics say (see CLAIM in jobs).
KNOWN = """
    SELECT id, created_at, missing_since, gone_at IS NOT NULL, measurements > 0, paid_on, paid_by
    FROM trackers_tweet WHERE id = ANY(%(ids)s::bigint[])
"""


@dataclass(frozen=True, slots=True)
class Before:
    """What is known at the database's time `now`; `tweets` by their ids, if they are tracked."""

    now: datetime
    plan: Plan
    tweets: Mapping[int, Known]
    purses: Sequence[Purse]


def known(ids: Iterable[int]) -> Before:
    """All that a batch of tweets needs to know, in one round trip."""
    current, tweets, purses = ask((CURRENT, {}), (KNOWN, {"ids": array(ids)}), (PURSES, OF_TWEETS))
    now, plan = read_current(current)
    return Before(now, plan, {row[0]: Known._make(row[1:]) for row in tweets}, read_purses(purses))
