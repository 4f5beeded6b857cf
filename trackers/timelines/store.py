"""The timeline store: its whole interface.

A timeline is a name with entries, newest first: an id, perhaps what it repeats, any bytes. What is
deleted from one never comes back into it. Bad input raises a ValueError, and changes nothing.

Use one operation per transaction: transactions with several may deadlock, unless the names ascend
from one operation to the next (`locks`).
"""

from __future__ import annotations

from trackers.timelines.asks import Ask, Segment, SegmentState, TimelineMissing
from trackers.timelines.bounds import Bounds
from trackers.timelines.entries import Entry
from trackers.timelines.expiry import drop, expire
from trackers.timelines.reads import filter_newest as filter
from trackers.timelines.reads import get, get_multi, get_since
from trackers.timelines.snapshot_file import SnapshotError
from trackers.timelines.snapshots import restore, snapshot
from trackers.timelines.writes import (
    append,
    append_many,
    delete,
    merge,
    merge_from,
    unmerge,
    unmerge_from,
)
from trackers.timelines.writes import replace as set

__all__ = [
    "Ask",
    "Bounds",
    "Entry",
    "Segment",
    "SegmentState",
    "SnapshotError",
    "TimelineMissing",
    "append",
    "append_many",
    "delete",
    "drop",
    "expire",
    "filter",
    "get",
    "get_multi",
    "get_since",
    "merge",
    "merge_from",
    "restore",
    "set",
    "snapshot",
    "unmerge",
    "unmerge_from",
]
