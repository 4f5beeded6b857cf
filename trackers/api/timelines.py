"""Operations of the timeline store, for users with the permission; homes cannot be written."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Status

from trackers.api.timeline_bodies import (
    Append,
    Asks,
    Delete,
    Entries,
    EntriesOrName,
    Filter,
    SegmentOut,
    SegmentsOut,
)
from trackers.api.wire.auth import HOMES, Bearer, require_read, require_write
from trackers.api.wire.fields import MAX_ITEMS, NO_CONTENT, Id
from trackers.timelines import store
from trackers.timelines.store import Entry
from trackers.tokens.models import READ_SCOPE

router = Router(tags=["timelines"])
# Entries times timelines in one request; entries in one reply.
_MAX_WRITTEN, _MAX_RETURNED = 10_000, 5_000
# The names of the calls above are addresses of their own, which take POST alone.
_MAY_BE_A_CALL: dict[str, Any] = {"responses": {405: {"$ref": "#/components/responses/Problem405"}}}


@router.post("/append", response=NO_CONTENT)
def append(request: HttpRequest, body: Append) -> Status:
    """Adds to each timeline that exists; a missing one stays missing."""
    require_write(request, *body.timelines)
    _refuse_too_many(len(body.entries) * len(body.timelines))
    store.append(body.to_entries(), body.timelines)
    return Status(204, None)


@router.post("/delete", response=NO_CONTENT)
def delete(request: HttpRequest, body: Delete) -> Status:
    """Deletes the entries permanently."""
    require_write(request, *body.timelines)
    _refuse_too_many(len(body.ids) * len(body.timelines))
    store.delete(body.ids, body.timelines)
    return Status(204, None)


@router.post("/get_multi", response=SegmentsOut, auth=Bearer(changes=READ_SCOPE))
def get_multi(request: HttpRequest, body: Asks) -> dict[str, Any]:
    """One segment per ask, in the same order; a MISS for a missing timeline."""
    require_read(request, *(ask.name for ask in body.asks))
    if sum(ask.length for ask in body.asks) > _MAX_RETURNED:
        raise ValueError(f"All lengths together may be at most {_MAX_RETURNED}.")
    asks = [item.ask() for item in body.asks]
    segments = [
        _segment_json(_without_home_metadata(ask.name, item.entries), item.state)
        for ask, item in zip(asks, store.get_multi(asks), strict=True)
    ]
    return {"segments": segments}


@router.get("/{name}", response=SegmentOut, openapi_extra=_MAY_BE_A_CALL)
def get(
    request: HttpRequest,
    name: str,
    offset: int = 0,
    length: int = Query(50, le=MAX_ITEMS),
    dedupe: bool = False,
) -> dict[str, Any]:
    """A page, counted from the newest entry."""
    require_read(request, name)
    return _segment_json(
        _without_home_metadata(name, store.get(name, offset, length, dedupe=dedupe))
    )


@router.get("/{name}/since/{id}", response=SegmentOut)
def get_since(
    request: HttpRequest,
    name: str,
    id: Id,
    offset: int = 0,
    length: int = Query(MAX_ITEMS, le=MAX_ITEMS),
    dedupe: bool = False,
) -> dict[str, Any]:
    """Entries inserted after this one, newest first; all if it is unknown."""
    require_read(request, name)
    [segment] = store.get_multi([store.Ask(name, offset, length, dedupe, id)])
    return _segment_json(_without_home_metadata(name, _entries_of(segment, name)))


@router.put("/{name}", response=NO_CONTENT, openapi_extra=_MAY_BE_A_CALL)
def replace(request: HttpRequest, name: str, body: Entries) -> Status:
    """Replaces the timeline's entries with these, except those deleted from it."""
    require_write(request, name)
    store.set(name, body.to_entries())
    return Status(204, None)


@router.post("/{name}/merge", response=NO_CONTENT)
def merge(request: HttpRequest, name: str, body: EntriesOrName) -> Status:
    """Adds new entries; a missing timeline stays missing."""
    require_write(request, name)
    entries = body.to_entries()
    if entries is None:
        require_read(request, source := body.source or "")
        _require_timeline(store.merge_from(name, source, bare=source.startswith(HOMES)), source)
    else:
        store.merge(name, entries)
    return Status(204, None)


@router.post("/{name}/unmerge", response=NO_CONTENT)
def unmerge(request: HttpRequest, name: str, body: EntriesOrName) -> Status:
    """Removes entries by their ids; a merge can bring them back."""
    require_write(request, name)
    entries = body.to_entries()
    if entries is None:
        require_read(request, source := body.source or "")
        _require_timeline(store.unmerge_from(name, source), source)
    else:
        store.unmerge(name, entries)
    return Status(204, None)


@router.post("/{name}/filter", response=SegmentOut, auth=Bearer(changes=READ_SCOPE))
def filter_newest(request: HttpRequest, name: str, body: Filter) -> dict[str, Any]:
    """Entries with one of the ids, or repeating one, among the newest `max_search`."""
    require_read(request, name)
    return _segment_json(
        _without_home_metadata(name, store.filter(name, body.ids, body.max_search))
    )


@router.delete("/{name}", response=NO_CONTENT, openapi_extra=_MAY_BE_A_CALL)
def drop(request: HttpRequest, name: str) -> Status:
    """The timeline is missing from now on, whether it existed or not."""
    require_write(request, name)
    store.drop(name)
    return Status(204, None)


def _refuse_too_many(rows: int) -> None:
    if rows > _MAX_WRITTEN:
        raise ValueError(
            f"Entries times timelines may be at most {_MAX_WRITTEN} a request, not {rows}."
        )


def _entries_of(segment: store.Segment, name: str) -> list[Entry]:
    _require_timeline(segment.state is store.SegmentState.HIT, name)
    return segment.entries


def _without_home_metadata(name: str, entries: list[Entry]) -> list[Entry]:
    """Strips a home's metadata, which may be the text of a tweet that X no longer shows: what a
    home keeps appears on its own pages, as far as X shows it."""
    return (
        [Entry(entry.id, entry.secondary) for entry in entries]
        if name.startswith(HOMES)
        else entries
    )


def _require_timeline(is_there: bool, name: str) -> None:
    if not is_there:
        raise store.TimelineMissing(name)


def _segment_json(
    entries: Sequence[Entry], state: store.SegmentState = store.SegmentState.HIT
) -> dict[str, Any]:
    return {
        "state": state,
        "size": len(entries),
        "entries": [_entry_json(entry) for entry in entries],
    }


def _entry_json(entry: Entry) -> dict[str, str | None]:
    secondary = None if entry.secondary is None else str(entry.secondary)
    metadata = base64.b64encode(entry.metadata).decode()
    return {"id": str(entry.id), "secondary": secondary, "metadata": metadata}
