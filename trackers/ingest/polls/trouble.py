"""When a source cannot be read now: how long it waits, what it says, and what becomes a gap.

Each of these is one transaction on the held row, and ends the claim.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from trackers.ingest.polls.begin import Begun
from trackers.ingest.polls.next_sweep import NO_DELAY, end_sweep, lose
from trackers.ingest.polls.pages import after_stale, give_up, without_token
from trackers.ingest.polls.reservation import Wait
from trackers.ingest.polls.row_lock import end_claim, held
from trackers.ingest.polls.state import cursor_of, ms, set_sweep
from trackers.ingest.polls.sweep import ReadingRules, Sweep
from trackers.ingest.sources.archive import give_archive_up
from trackers.ingest.sources.models import Source
from trackers.jobs import queue
from trackers.jobs.queue import Batch
from trackers.xapi.errors import (
    BadRequest,
    Depleted,
    NotReady,
    NotShown,
    RateLimited,
    Refused,
    StaleSinceId,
    Unavailable,
    XError,
)

# A shorter wait is normal: for the first reply of a window, or the last of the money.
_REPORTED_FROM = timedelta(seconds=5)
FIRST_WAIT, _LONGEST_WAIT = timedelta(seconds=5), timedelta(minutes=10)
# If X did not understand a request now, it will not in a minute either.
_NOT_UNDERSTOOD_WAIT = timedelta(hours=1)
# What X does not show may be gone, or X may be wrong for hours: we check at least this often, and
# give nothing up.
HIDDEN_AT_MOST = timedelta(hours=1)
# Trouble with old posts must not keep new ones from being read.
_MOST_FAILURES_OF_OLD = 3


def put_off(
    batch: Batch, source: Source, wait: Wait, sweep: Sweep | None, *, now: datetime
) -> timedelta:
    """No request is allowed: wait. A reading that would wait longer than a poll's interval ends.

    What it has not read becomes a gap, and the next poll goes first.
    """
    delay = max(wait.until - now, timedelta(0))
    if sweep is not None and sweep.of_archive and wait.is_out_of_reach:
        _give_archive_up(batch, source, because=wait.because)
        return NO_DELAY
    if delay < _REPORTED_FROM:
        queue.release(batch, delay)
        return delay
    with held(batch, source) as row:
        if row is not None:
            if sweep is not None and delay > row.every and row.is_polled:
                _end_early(row, sweep, now=now)
            row.problem = wait.because[:300]
            end_claim(batch, row, delay)
    return delay


def _give_archive_up(batch: Batch, source: Source, *, because: str) -> None:
    """What the archive was to fill is lost again, and new posts are read."""
    with held(batch, source) as row:
        if row is not None:
            _abandon_sweep(row)
            give_archive_up(row, because=because)
            end_claim(batch, row, NO_DELAY)


def _end_early(source: Source, sweep: Sweep, *, now: datetime) -> None:
    """A reading that has read nothing is kept if it is a poll; others start over after the next.

    An overlap always does: cut short, it would measure less than it claims.
    """
    if sweep.purpose == "overlap":
        _abandon_sweep(source)
        return
    ended = give_up(sweep, cursor=cursor_of(source), why="quota")
    if ended is not None:
        end_sweep(source, sweep, ended, now=now)
    elif sweep.purpose != "poll":
        _abandon_sweep(source)


def _abandon_sweep(source: Source) -> None:
    """Forget the reading; its gap stays open."""
    set_sweep(source, None)
    source.filling = None


def fail(
    batch: Batch, source: Source, error: XError, sweep: Sweep, rules: ReadingRules, *, now: datetime
) -> timedelta:
    """X gave no page: what the source does next, and when.

    1. This credential may not ask now: the next step finds which one may.
    2. X finds its place too old, or no longer knows it: it continues from another one.
    3. X's full archive does not understand the query: the gap is lost again.
    4. Otherwise it waits, twice as long each time.
    """
    if is_known(error):
        queue.release(batch)
        return NO_DELAY
    with held(batch, source) as row:
        if row is None:
            return NO_DELAY
        delay = NO_DELAY
        if _has_another_place(row, error, sweep, rules, now=now):
            pass
        elif sweep.of_archive and isinstance(error, BadRequest):
            # It will not understand the query later either, and new posts are not to wait for it.
            _abandon_sweep(row)
            give_archive_up(row, because=error.reason)
        else:
            delay = back_off(row, error)
            if isinstance(error, NotShown):
                row.poll_at = now + delay
            if sweep.purpose != "poll" and row.failures >= _MOST_FAILURES_OF_OLD:
                _abandon_sweep(row)
        end_claim(batch, row, delay)
    return delay


def misname(batch: Batch, source: Source, why: str) -> None:
    """Nothing can be requested under this name: a person has to change it."""
    with held(batch, source) as row:
        if row is not None:
            row.problem = why[:300]
            end_claim(batch, row, _NOT_UNDERSTOOD_WAIT)


def is_known(error: XError) -> bool:
    """Whether credentials, windows and money already say when the next request is allowed.

    That includes a 429, a Retry-After and a refusal (selection.settle_failed).
    """
    if isinstance(error, Unavailable):
        return bool(error.retry_after)
    return isinstance(error, RateLimited | NotReady | Depleted | Refused)


def _has_another_place(
    source: Source, error: XError, sweep: Sweep, rules: ReadingRules, *, now: datetime
) -> bool:
    """Whether the reading continues elsewhere, or ends, because of what X said about its place."""
    if isinstance(error, StaleSinceId):
        cursor = cursor_of(source)
        follows = after_stale(sweep, error.suggested, cursor=cursor, rules=rules, now_ms=ms(now))
        if not isinstance(follows, Begun):
            if sweep.purpose == "overlap":
                _abandon_sweep(source)
            else:
                end_sweep(source, sweep, follows, now=now)
            return True
        if follows.sweep == sweep:
            return False
        lose(source, source.filling, follows, now=now)
        set_sweep(source, follows.sweep)
        if follows.sweep is None:
            source.filling = None
        return True
    if isinstance(error, BadRequest) and sweep.token is not None:
        set_sweep(source, without_token(sweep, rules))
        return True
    return False


def back_off(source: Source, error: XError) -> timedelta:
    """The wait after one more failure."""
    source.failures += 1
    source.problem = error.reason[:300]
    longest = _LONGEST_WAIT
    if isinstance(error, NotShown):
        source.problem = f"{error.reason}. Either X no longer shows it, or X is having trouble."[
            :300
        ]
        longest = max(source.every, HIDDEN_AT_MOST)
    elif isinstance(error, BadRequest):
        longest = _NOT_UNDERSTOOD_WAIT
    return _wait_after(source.failures, longest=longest)


def _wait_after(failures: int, *, longest: timedelta) -> timedelta:
    return min(longest, FIRST_WAIT * 2 ** min(failures - 1, 30)) * random.uniform(0.8, 1.2)
