"""Give staged events to the subscribers, into their current batches.

staged ids ─> events ─> who wants which ─> the end of each line ─> batches, full ones ready
                   └──> the live feed, while somebody watches
One spread at a time, by one lock for all: so a subscriber's batches are written in the order of the
causes, and publishing never waits for them. Whatever depends on what a subscriber has (its books,
joining or leaving a topic) spreads first, so that what was committed before is counted.
"""

from __future__ import annotations

from django.db import transaction

from tweetwatch.database import cursor
from tweetwatch.statements import statement

# The lock of the spread: held until its commit, and taken before the snapshot of what it reads.
LOCK = "SELECT pg_advisory_xact_lock(hashtext('trackers.events.fan_out'))"
_TRY = "SELECT pg_try_advisory_xact_lock(hashtext('trackers.events.fan_out'))"

# The most that is spread at a time: transactions, and roughly, entries in lines of subscribers.
MAX_STAGED = 100
_MAX_ENTRIES = 200_000
# Events per row of the live feed.
_EVENTS_PER_LIVE_ROW = 1_000

_FIGURES = "'{retweets,replies,likes,quotes,bookmarks,views}'::text[]"
_FAN_OUT = statement(__file__, "fan_out", events_per_row=_EVENTS_PER_LIVE_ROW, figures=_FIGURES)
NUMBER = "SELECT nextval('trackers_spread_number')"


def fan_out() -> int:
    """Spread what is staged, up to a bound, unless another does; return how many transactions."""
    with transaction.atomic(), cursor() as db:
        row = db.execute(_TRY).fetchone()
        return _fan_out_some() if row and row[0] else 0


def fan_out_all() -> None:
    """Wait for the lock, and spread all that is committed; within the caller's transaction.

    The caller's transaction keeps the lock: nothing is spread between this and what it does.
    """
    with cursor() as db:
        db.execute(LOCK)
    while _fan_out_some():
        pass


def _fan_out_some() -> int:
    with cursor() as db:
        number = db.execute(NUMBER).fetchone()
        assert number is not None
        params = {"most": MAX_STAGED, "entries": _MAX_ENTRIES, "number": number[0]}
        taken = db.execute(_FAN_OUT, params).fetchone()
    assert taken is not None
    return int(taken[0])
