"""What a source reads next, and what a finished reading leaves: a new cursor, and gaps.

First a poll that is due, then the newest gap that X can still fill, then the overlap. After a poll
its gaps get a turn, even if the next poll is already due. An overlap gives way between two pages
when a poll is due, and continues after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from datetime import datetime, timedelta

from django.db.models import Q

from trackers.ingest.polls.begin import Begun, begin_gap, begin_overlap, begin_poll
from trackers.ingest.polls.pages import Done, Short
from trackers.ingest.polls.state import (
    Polling,
    cursor_of,
    ms,
    rules_of,
    set_cursor,
    set_sweep,
    unread_of,
)
from trackers.ingest.polls.sweep import Purpose, ReadingRules, Sweep, Unread
from trackers.ingest.sources.models import Gap, Source
from trackers.ingest.sources.source_events import publish_gaps
from trackers.tweets.snowflake import born_at

NO_DELAY = timedelta(0)
# Reading that nobody waits for lets due polls go first.
_NOT_URGENT = timedelta(seconds=1)
# If a gap cannot be filled at all, it is tried again after the next poll; a stream's, after this.
_TRY_AGAIN = timedelta(minutes=10)
# An overlap has no budget: cut short, it would measure less than it claims.
_PAGES_OF_AN_OVERLAP = 10_000
_WEEK = timedelta(days=7)


def begin_next(
    source: Source,
    polling: Polling,
    *,
    now: datetime,
    after: Purpose | None = None,
    stuck: int | None = None,
) -> timedelta | None:
    """Begin the next reading of the held row, if there is one; returns when its job is due.

    None: nothing will be left to read. `after`: what has just ended. `stuck`: a gap that cannot be
    filled for now.
    """
    rules = rules_of(source, polling)
    if source.is_polled and after != "poll" and _is_due(source, now=now):
        begun = begin_poll(cursor_of(source), rules, depth=source.backfill, now_ms=ms(now))
        set_sweep(source, begun.sweep)
        if source.latest_id is None and begun.sweep is not None:
            source.begun_id = begun.sweep.since_id or 0
            source.first_read_at = now
        if begun.lost:
            _open_gap(source, begun.lost, now=now)
        return NO_DELAY
    gaps = [row for row in _fillable(source) if row.pk != stuck]
    for row in gaps:
        if _ready_at(source, row, rules) <= now and _begin_filling(source, row, rules, now=now):
            return _NOT_URGENT
    overlap = _next_overlap(source, polling, rules, now=now)
    if overlap is not None:
        set_sweep(source, overlap)
        source.resting = None
        return _NOT_URGENT
    return _until_next(source, gaps, rules, now=now, is_stuck=stuck is not None)


def _is_due(source: Source, *, now: datetime) -> bool:
    return source.poll_at is None or source.poll_at <= now


def _overlap_is_due(source: Source, polling: Polling, *, now: datetime) -> bool:
    last = source.overlapped_at or source.created_at
    return source.latest_id is not None and now - last >= polling.overlap_every


def _next_overlap(
    source: Source, polling: Polling, rules: ReadingRules, *, now: datetime
) -> Sweep | None:
    """The one that gave way, or a new one if it is due."""
    if source.resting:
        return Sweep(**source.resting)
    if not source.is_polled or not _overlap_is_due(source, polling, now=now):
        return None
    is_deep = deep_overlap_is_due(source, now=now)
    depth = polling.overlap_weekly_depth if is_deep else polling.overlap_depth
    overlap = begin_overlap(rules, depth=depth, now_ms=ms(now)).sweep
    if overlap is None:
        return None
    return replace(overlap, pages_left=_PAGES_OF_AN_OVERLAP, is_deep=is_deep)


def deep_overlap_is_due(source: Source, *, now: datetime) -> bool:
    return now - (source.deep_overlapped_at or source.created_at) >= _WEEK


def stands_back(source: Source, sweep: Sweep, *, now: datetime) -> bool:
    """Whether the reading, between two pages, gives way to a poll; if so, it is kept for later."""
    if sweep.purpose != "overlap" or not source.is_polled or not _is_due(source, now=now):
        return False
    source.resting = asdict(sweep)
    set_sweep(source, None)
    return True


def _fillable(source: Source) -> Iterable[Gap]:
    """Newest first, so that posts filling one gap do not count as newer than the next gap."""
    beyond_reach = Q(why=Gap.Why.REACH, archive_asked_at=None)
    rows = source.gaps.filter(closed_at=None, was_of="").exclude(beyond_reach)
    return rows.order_by("-to_id", "-pk")


def _ready_at(source: Source, row: Gap, rules: ReadingRules) -> datetime:
    """When all posts of a gap have appeared. Polls re-read recent posts; streams do not."""
    if source.is_polled:
        return row.found_at
    return born_at(row.to_id) + timedelta(milliseconds=rules.lag_ms + rules.k_ms)


def _begin_filling(source: Source, row: Gap, rules: ReadingRules, *, now: datetime) -> bool:
    """Whether any of the gap is left to read; what X no longer shows is reported as lost."""
    passed = max(0, source.yielded - row.yielded_when_found)
    if row.archive_asked_at:
        rules = replace(rules, kind="archive")
    begun = begin_gap(unread_of(row), rules, passed=passed, now_ms=ms(now))
    lose(source, row, begun, now=now)
    set_sweep(source, begun.sweep)
    source.filling = row if begun.sweep else None
    return begun.sweep is not None


def lose(source: Source, row: Gap | None, begun: Begun, *, now: datetime) -> None:
    """Report what a reading has lost; the gap that it fills, `row`, shrinks by that."""
    lost = begun.lost
    if begun.sweep is None and row is not None:
        if lost is None:
            row.close(now=now)
        else:
            _narrow(row, lost)
    elif lost is not None:
        _open_gap(source, lost, now=now)
        if row is not None:
            row.from_id = lost.to_id - 1
            row.counted = row.counted_from = None
            row.save(update_fields=["from_id", "counted", "counted_from"])


def _until_next(
    source: Source, gaps: Iterable[Gap], rules: ReadingRules, *, now: datetime, is_stuck: bool
) -> timedelta | None:
    times = [row_ready for row in gaps if (row_ready := _ready_at(source, row, rules)) > now]
    if source.is_polled:
        times.append(source.poll_at or now)
    elif is_stuck:
        times.append(now + _TRY_AGAIN)
    return max(min(times) - now, NO_DELAY) if times else None


def end_sweep(source: Source, sweep: Sweep, step: Done | Short, *, now: datetime) -> int | None:
    """Update the held row after a reading; returns the gap that could not be narrowed."""
    set_cursor(source, step.cursor)
    filled, source.filling = source.filling, None
    gap = step.gap if isinstance(step, Short) else None
    stuck = None
    if filled is None:
        if gap is not None:
            _open_gap(source, gap, now=now, passed=sweep.passed)
    elif gap is None:
        filled.close(now=now)
    else:
        # A list whose place X forgot is read from its head: the part above the gap is not in it.
        stuck = filled.pk if gap.to_id >= filled.to_id else None
        gap = replace(gap, to_id=min(gap.to_id, filled.to_id))
        _narrow(filled, gap, yielded_when_found=source.yielded - sweep.passed)
    if sweep.purpose == "poll":
        source.polled_at = now
        # Counted from when it was due, so that polls do not drift; missed polls are skipped.
        source.poll_at = max(now, (source.poll_at or now) + source.every)
    elif sweep.purpose == "overlap":
        source.overlapped_at = now
        if sweep.is_deep:
            source.deep_overlapped_at = now
    set_sweep(source, None)
    return stuck


def _open_gap(source: Source, gap: Unread, *, now: datetime, passed: int = 0) -> None:
    """Open a new gap. `passed`: how many posts X has counted down to it."""
    source.gaps.create(
        from_id=gap.from_id,
        to_id=gap.to_id,
        why=gap.why,
        token=gap.token or "",
        yielded_when_found=source.yielded - passed,
        found_at=now,
    )
    publish_gaps([(source.pk, gap.from_id, gap.to_id)], gap.why)


def _narrow(row: Gap, gap: Unread, *, yielded_when_found: int | None = None) -> None:
    """Reduce the gap to what is left of it."""
    row.from_id, row.to_id, row.why, row.token = gap.from_id, gap.to_id, gap.why, gap.token or ""
    row.counted = row.counted_from = None
    if yielded_when_found is not None:
        row.yielded_when_found = yielded_when_found
    fields = ["from_id", "to_id", "why", "token", "counted", "counted_from"]
    row.save(update_fields=[*fields, "yielded_when_found"])
