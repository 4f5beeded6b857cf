"""Writing timelines: entries are added, taken out or deleted for good; a timeline is set.

Appends, deletes and merges lead to the same state in any order, however often they are repeated, as
long as nothing is cut (`bounds`). The number of statements does not depend on the number of
timelines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db import transaction

from trackers.timelines.adding import add_to_all, add_to_each, cut
from trackers.timelines.asks import Ask
from trackers.timelines.bounds import Bounds, bounds_of
from trackers.timelines.entries import (
    Entry,
    by_id,
    checked_entries,
    checked_entry,
    checked_ids,
    checked_list,
    checked_name,
    checked_names,
)
from trackers.timelines.locks import Locked, lock, make_and_lock, often_in
from trackers.timelines.put import put_entries, recount, remove_older
from trackers.timelines.reads import read_timelines
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

_MARK = statement(__file__, "mark_deleted", times_live=often_in("m.were_live"))

# The timeline is locked. Entries are taken out, not deleted: they may come back.
_TAKE_OUT = """
    WITH gone AS (
        DELETE FROM trackers_timelineentry
        WHERE timeline_id = %(timeline)s AND entry_id = ANY(%(ids)s::bigint[]) AND dead_at IS NULL
        RETURNING entry_id
    )
    UPDATE trackers_timeline SET size = size - (SELECT count(*) FROM gone)
    WHERE id = %(timeline)s AND EXISTS (SELECT FROM gone)
"""


def append(
    entry: Entry | Iterable[Entry], timelines: Iterable[str], *, bounds: Bounds | None = None
) -> None:
    """Add to each timeline that is set, except entries that it has already, or that were deleted.

    `bounds`: for all these timelines, instead of the settings'.
    """
    entries = checked_entries([entry] if isinstance(entry, Entry) else entry)
    names = checked_names(timelines)
    add_to_all(names, entries, bounds=bounds)


def append_many(pairs: Iterable[tuple[str, Entry]], *, bounds: Bounds | None = None) -> None:
    """Append each entry to the timeline in its pair, all in one statement; see `append`."""
    entries_of: dict[str, list[Entry]] = {}
    for pair in checked_list(pairs, of="pairs of a name and an entry"):
        name, entry = _checked_pair(pair)
        entries_of.setdefault(name, []).append(entry)
    for entry in {id(entry): entry for some in entries_of.values() for entry in some}.values():
        checked_entry(entry)
    names = checked_names(entries_of)
    of_each = [sorted(entries_of[name], key=by_id) for name in names]
    if all(some == of_each[0] for some in of_each):
        # The usual delivery: what one source brought, to all its followers.
        add_to_all(names, of_each[0] if names else [], bounds=bounds)
    else:
        add_to_each(names, of_each, bounds=bounds)


def _checked_pair(pair: tuple[str, Entry]) -> tuple[str, Entry]:
    if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], str):
        raise ValueError(f"A pair must be a timeline's name and an Entry, not {pair!r}.")
    return pair


def delete(entry_id: int | Iterable[int], timelines: Iterable[str]) -> None:
    """Delete for good: it never comes back into these timelines, even if it was not there, or they
    were never set. A tombstone is kept for at least TIMELINE_TOMBSTONE_DAYS."""
    ids = checked_ids(entry_id if isinstance(entry_id, Iterable) else [entry_id])
    names = checked_names(timelines)
    if not ids or not names:
        return
    with transaction.atomic():
        locked = sorted(make_and_lock(names), key=lambda one: one.id)
        with cursor() as db:
            timelines_and_seqs = {
                "timelines": array(one.id for one in locked),
                "seqs": array(one.seq for one in locked),
            }
            db.execute(_MARK, {**timelines_and_seqs, "ids": array(ids)})


def replace(name: str, entries: Iterable[Entry], *, bounds: Bounds | None = None) -> None:
    """Give the timeline exactly these entries, without those that were deleted from it; create it
    if needed. They count as inserted now, the lowest id first. (`store.set`)"""
    entries_to_put, name = checked_entries(entries), checked_name(name)
    with transaction.atomic():
        [timeline] = make_and_lock([name])
        put_entries([(timeline.id, timeline.seq + 1, one, None) for one in entries_to_put])
        remove_older([timeline])
        [size] = recount([timeline], [timeline.seq + 1])
        bounds = bounds or bounds_of(name)
        if size > bounds.upper:
            cut([timeline.id], [bounds])


def merge(name: str, entries: Iterable[Entry], *, bounds: Bounds | None = None) -> None:
    """Add what is not there, like `append`; does nothing if the timeline is not set."""
    checked, name = checked_entries(entries), checked_name(name)
    add_to_all([name], checked, bounds=bounds)


def unmerge(name: str, entries: Iterable[Entry]) -> None:
    """Take entries out, by id; a merge brings them back. What was deleted stays deleted."""
    checked, name = checked_entries(entries), checked_name(name)
    with transaction.atomic():
        _take_out(lock([name]), checked)


def merge_from(name: str, source: str, *, bare: bool = False, bounds: Bounds | None = None) -> bool:
    """Merge the entries of another timeline, without their metadata if `bare`. If that timeline is
    not set, do nothing and return False."""
    with transaction.atomic():
        entries = _entries_of(source, beside=name)
        if entries is not None and bare:
            entries = [Entry(one.id, one.secondary) for one in entries]
        if entries is not None:
            add_to_all([name], entries, bounds=bounds)
    return entries is not None


def unmerge_from(name: str, source: str) -> bool:
    """Unmerge the entries of another timeline. If that is not set, do nothing; return False."""
    with transaction.atomic():
        entries = _entries_of(source, beside=name)
        if entries is not None:
            _take_out(lock([name]), entries)
    return entries is not None


def _entries_of(source: str, *, beside: str) -> list[Entry] | None:
    """All entries of a timeline, lowest id first; locks it and `beside` until the commit."""
    lock(checked_names([source, beside]))
    [timeline] = read_timelines([Ask(source, 0, None)])
    return None if timeline is None else timeline.entries[::-1]


def _take_out(locked: Sequence[Locked], entries: Sequence[Entry]) -> None:
    for timeline in locked:
        ids = array(entry.id for entry in entries)
        with cursor() as db:
            db.execute(_TAKE_OUT, {"timeline": timeline.id, "ids": ids})
