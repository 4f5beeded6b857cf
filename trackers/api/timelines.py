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
from trackers.api.wire.auth import HOMES, Bearer, may_read, may_write
from trackers.api.wire.fields import MOST, Id
from trackers.timelines import store
from trackers.timelines.store import Entry
from trackers.tokens.models import READ

router = Router(tags=["timelines"])
# Entries times timelines in one request; entries in one reply.
MOST_WRITTEN, MOST_TOLD = 10_000, 5_000
DONE: dict[Any, Any] = {204: None}
# The names of the calls above are addresses of their own, which take POST alone.
MAY_BE_A_CALL: dict[str, Any] = {"responses": {405: {"$ref": "#/components/responses/Problem405"}}}


@router.post("/append", response=DONE)
def append(request: HttpRequest, given: Append) -> Status:
    """Adds to each timeline that exists; a missing one stays missing."""
    may_write(request, *given.timelines)
    bounded(len(given.entries) * len(given.timelines))
    store.append(given.given(), given.timelines)
    return Status(204, None)


@router.post("/delete", response=DONE)
def delete(request: HttpRequest, given: Delete) -> Status:
    """Deletes the entries permanently."""
    may_write(request, *given.timelines)
    bounded(len(given.ids) * len(given.timelines))
    store.delete(given.ids, given.timelines)
    return Status(204, None)


@router.post("/get_multi", response=SegmentsOut, auth=Bearer(changes=READ))
def get_multi(request: HttpRequest, given: Asks) -> dict[str, Any]:
    """One segment per ask, in the same order; a MISS for a missing timeline."""
    may_read(request, *(ask.name for ask in given.asks))
    if sum(ask.length for ask in given.asks) > MOST_TOLD:
        raise ValueError(f"All lengths together may be at most {MOST_TOLD}.")
    asks = [one.ask() for one in given.asks]
    segments = [
        segment_json(readable(ask.name, one.entries), one.state)
        for ask, one in zip(asks, store.get_multi(asks), strict=True)
    ]
    return {"segments": segments}


@router.get("/{name}", response=SegmentOut, openapi_extra=MAY_BE_A_CALL)
def get(
    request: HttpRequest,
    name: str,
    offset: int = 0,
    length: int = Query(50, le=MOST),
    dedupe: bool = False,
) -> dict[str, Any]:
    """A page, counted from the newest entry."""
    may_read(request, name)
    return segment_json(readable(name, store.get(name, offset, length, dedupe=dedupe)))


@router.get("/{name}/since/{id}", response=SegmentOut)
def get_since(
    request: HttpRequest,
    name: str,
    id: Id,
    offset: int = 0,
    length: int = Query(MOST, le=MOST),
    dedupe: bool = False,
) -> dict[str, Any]:
    """Entries inserted after this one, newest first; all if it is unknown."""
    may_read(request, name)
    [segment] = store.get_multi([store.Ask(name, offset, length, dedupe, id)])
    return segment_json(readable(name, there(segment, name)))


@router.put("/{name}", response=DONE, openapi_extra=MAY_BE_A_CALL)
def replace(request: HttpRequest, name: str, given: Entries) -> Status:
    """Replaces the timeline's entries with these, except those deleted from it."""
    may_write(request, name)
    store.set(name, given.given())
    return Status(204, None)


@router.post("/{name}/merge", response=DONE)
def merge(request: HttpRequest, name: str, given: EntriesOrName) -> Status:
    """Adds new entries; a missing timeline stays missing."""
    may_write(request, name)
    entries = given.given()
    if entries is None:
        may_read(request, source := given.source or "")
        found(store.merge_from(name, source, bare=source.startswith(HOMES)), source)
    else:
        store.merge(name, entries)
    return Status(204, None)


@router.post("/{name}/unmerge", response=DONE)
def unmerge(request: HttpRequest, name: str, given: EntriesOrName) -> Status:
    """Removes entries by their ids; a merge can bring them back."""
    may_write(request, name)
    entries = given.given()
    if entries is None:
        may_read(request, source := given.source or "")
        found(store.unmerge_from(name, source), source)
    else:
        store.unmerge(name, entries)
    return Status(204, None)


@router.post("/{name}/filter", response=SegmentOut, auth=Bearer(changes=READ))
def filter_newest(request: HttpRequest, name: str, given: Filter) -> dict[str, Any]:
    """Entries with one of the ids, or repeating one, among the newest `max_search`."""
    may_read(request, name)
    return segment_json(readable(name, store.filter(name, given.ids, given.max_search)))


@router.delete("/{name}", response=DONE, openapi_extra=MAY_BE_A_CALL)
def drop(request: HttpRequest, name: str) -> Status:
    """The timeline is missing from now on, whether it existed or not."""
    may_write(request, name)
    store.drop(name)
    return Status(204, None)


def bounded(rows: int) -> None:
    if rows > MOST_WRITTEN:
        raise ValueError(
            f"Entries times timelines may be at most {MOST_WRITTEN} a request, not {rows}."
        )


def there(segment: store.Segment, name: str) -> list[Entry]:
    found(segment.state is store.SegmentState.HIT, name)
    return segment.entries


def readable(name: str, entries: list[Entry]) -> list[Entry]:
    """Strips a home's metadata, which may be the text of a tweet that X no longer shows: what a
    home keeps appears on its own pages, as far as X shows it."""
    return [Entry(one.id, one.secondary) for one in entries] if name.startswith(HOMES) else entries


def found(is_there: bool, name: str) -> None:
    if not is_there:
        raise store.TimelineMissing(name)


def segment_json(
    entries: Sequence[Entry], state: store.SegmentState = store.SegmentState.HIT
) -> dict[str, Any]:
    return {"state": state, "size": len(entries), "entries": [told_entry(one) for one in entries]}


def told_entry(entry: Entry) -> dict[str, str | None]:
    secondary = None if entry.secondary is None else str(entry.secondary)
    metadata = base64.b64encode(entry.metadata).decode()
    return {"id": str(entry.id), "secondary": secondary, "metadata": metadata}
