"""Leaderboards of more posts than are counted at once: asked for, counted by a worker, read.

asked ─> `LargeLeaderboard` ─ a task ─> ids, then so many posts at a time, `counted` ─> its rows
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from trackers.jobs import ordinary
from trackers.rollups.models import RollupKind
from trackers.sets.kinds import SetKind, TweetSet
from trackers.sets.leaderboards.asked import AskedBoard, Listing, posts_in
from trackers.sets.leaderboards.count import ComparedSpans, SetRow, count_sets
from trackers.sets.leaderboards.models import LargeLeaderboard
from trackers.sets.leaderboards.within import count_within
from trackers.sets.members import newest_members
from trackers.sets.periods import TimeSpan

# Of a set: they are in memory, a kilobyte each.
MAX_COUNTED = 200_000
# So many wait for workers at a time: each takes one for some seconds.
_MAX_WAITING = 10
# So long a list is of now. A worker needs a minute at the most: what takes longer was lost with it.
_FRESH_FOR, _LOST_AFTER = timedelta(hours=1), timedelta(minutes=5)
_LARGE_KEPT_FOR = timedelta(days=1)
_TASK = "trackers.tasks.count_large_leaderboard"
_TOO_LARGE = "There are more than {:,} posts in these days and those before. Choose fewer days."


class TooManyWaiting(Exception):
    """Its text says what to do."""

    def __init__(self) -> None:
        super().__init__("Other lists are being counted. Try again in some minutes.")


def find_large(asked: AskedBoard, *, now: datetime) -> LargeLeaderboard | None:
    """The one that was asked for within the hour, counted or not."""
    row = LargeLeaderboard.objects.filter(**_row_key(asked), asked_at__gt=now - _FRESH_FOR).first()
    if row is None or (row.ended_at is None and row.asked_at < now - _LOST_AFTER):
        return None
    return row


def request_large(asked: AskedBoard, *, now: datetime) -> LargeLeaderboard:
    """Have it counted, unless it is of this hour, or is being counted. Raises TooManyWaiting."""
    if (known := find_large(asked, now=now)) and not known.problem:
        return known
    waiting = LargeLeaderboard.objects.filter(ended_at=None, asked_at__gt=now - _LOST_AFTER)
    if waiting.count() >= _MAX_WAITING:
        raise TooManyWaiting
    spans = asked.spans(now=now)
    begun = {
        "spans": _spans_json(spans), "posts": None, "counted": 0, "rows": None, "problem": "",
        "asked_at": now, "ended_at": None,
    }  # fmt: skip
    with transaction.atomic():
        row, _ = LargeLeaderboard.objects.update_or_create(**_row_key(asked), defaults=begun)
        ordinary.enqueue(_TASK, row.pk)
    return row


def count_large(id: int) -> LargeLeaderboard | None:
    """Count one that is asked for; None if it is counted already, or gone. If the worker dies, the
    task is handed out again, and begins again."""
    row = LargeLeaderboard.objects.filter(pk=id, ended_at=None).first()
    if row is None:
        return None
    kind, spans = RollupKind(row.kind), _spans_of(row.spans)
    if row.within:
        rows = _count_members(row, kind, spans)
    else:
        row.posts = posts_in(spans.before.since, spans.this.until)
        _save_progress(row)
        with transaction.atomic():
            rows = count_sets(kind, spans)
    row.rows = None if rows is None else [asdict(one) for one in rows]
    row.problem = "" if rows is not None else _TOO_LARGE.format(MAX_COUNTED)
    LargeLeaderboard.objects.filter(pk=row.pk, asked_at=row.asked_at).update(
        rows=row.rows, problem=row.problem, ended_at=Now()
    )
    return row


def _count_members(
    row: LargeLeaderboard, kind: RollupKind, spans: ComparedSpans
) -> list[SetRow] | None:
    of, _, key = row.within.partition("/")
    both = TimeSpan(spans.before.since, spans.this.until)
    ids = newest_members(TweetSet(SetKind(of), key, ""), both, most=MAX_COUNTED + 1).ids
    if len(ids) > MAX_COUNTED:
        return None
    row.posts = len(ids)

    def progress(counted: int) -> None:
        row.counted = counted
        _save_progress(row)

    progress(0)
    return count_within(kind, ids, spans, progress=progress)


def _save_progress(row: LargeLeaderboard) -> None:
    """How far it is; not if it was asked for anew meanwhile."""
    LargeLeaderboard.objects.filter(pk=row.pk, asked_at=row.asked_at).update(
        posts=row.posts, counted=row.counted
    )


def listing_of(row: LargeLeaderboard) -> Listing | None:
    """None while it is counted, and where that failed."""
    if row.rows is None:
        return None
    rows = [SetRow(**one) for one in row.rows]
    return Listing(rows, _spans_of(row.spans), as_of=row.asked_at)


def prune_large(*, now: datetime) -> int:
    """Delete those that were asked for over a day ago; return how many."""
    return LargeLeaderboard.objects.filter(asked_at__lt=now - _LARGE_KEPT_FOR).delete()[0]


def _row_key(asked: AskedBoard) -> dict[str, Any]:
    period = asked.period
    if not isinstance(period, str):
        first, last = period.steps[0][0].since, period.steps[-1][0].since
        period = f"{first:%Y-%m-%dT%H:%MZ}/{last:%Y-%m-%dT%H:%MZ}"
    within = asked.within.address if asked.within else ""
    return {"kind": asked.kind, "within": within, "period": period}


def _spans_json(spans: ComparedSpans) -> dict[str, Any]:
    return {
        "age": spans.age,
        **{
            name: [getattr(spans, name).since.isoformat(), getattr(spans, name).until.isoformat()]
            for name in ("this", "before", "old")
        },
    }


def _spans_of(stored: dict[str, Any]) -> ComparedSpans:
    this, before, old = (
        TimeSpan(*map(datetime.fromisoformat, stored[name])) for name in ("this", "before", "old")
    )
    return ComparedSpans(this, before, old, stored["age"])
