"""Add entries to timelines in one statement, however many entries and timelines there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction

from trackers.timelines.bounds import Bounds, bounds_of, least_upper
from trackers.timelines.entries import Entry, array_elements, texts
from trackers.timelines.locks import lock, often_in
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

_ADDED = statement(__file__, "_added", entries=often_in("a.ids"))
_ADD_TO_ALL = statement(__file__, "add_to_all", added=_ADDED)
_ADD_TO_EACH = statement(__file__, "add_to_each", added=_ADDED)
_CUT = statement(__file__, "cut")


def add_to_all(
    names: Sequence[str], entries: Sequence[Entry], *, bounds: Bounds | None = None
) -> None:
    """Add the entries to each of the timelines; entries and names are in order."""
    if names and entries:
        _add_entries(_ADD_TO_ALL, names, _entry_columns(entries), bounds=bounds)


def add_to_each(
    names: Sequence[str], entries: Sequence[Sequence[Entry]], *, bounds: Bounds | None = None
) -> None:
    """Add to each of the timelines its own entries; names and entries are in order."""
    if names:
        places = array(place for place, some in enumerate(entries, 1) for _ in some)
        each = _entry_columns([entry for some in entries for entry in some])
        _add_entries(_ADD_TO_EACH, names, {"places": places, **each}, bounds=bounds)


def _entry_columns(entries: Sequence[Entry]) -> dict[str, str]:
    """Array literals; an entry is formatted once, however often it occurs."""
    rows_by_entry = {id(entry): array_elements(entry) for entry in entries}
    each = [rows_by_entry[id(entry)] for entry in entries]
    names = ("ids", "secondaries", "metadata")
    return {name: "{" + ",".join([one[n] for one in each]) + "}" for n, name in enumerate(names)}


def _add_entries(
    statement: str, names: Sequence[str], entries: Mapping[str, str], *, bounds: Bounds | None
) -> None:
    least = bounds.upper if bounds else least_upper()
    params = {"names": texts(names), "upper": least, **entries}
    with cursor() as db:
        grown = db.execute(statement, params).fetchall()
    limits = {name: bounds or bounds_of(name) for name, _ in grown}
    full = sorted(name for name, size in grown if size > limits[name].upper)
    if full:
        # Outside of a transaction this commits by itself: readers may see a timeline beyond its
        # bound until then, and if the cut fails, the next append makes up for it.
        with transaction.atomic():
            locked = lock(full)
            cut([one.id for one in locked], [limits[one.name] for one in locked])


def cut(ids: Sequence[int], limits: Sequence[Bounds]) -> None:
    """Cut those of the timelines, which are locked, that are past their upper bound."""
    with cursor() as db:
        db.execute(
            _CUT,
            {
                "ids": array(ids),
                "lowers": array(one.lower for one in limits),
                "uppers": array(one.upper for one in limits),
            },
        )
