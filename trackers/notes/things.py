"""The things that notes are on. Their parts stand on this one, so models are found by name."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from django.apps import apps
from django.db.models import Model, QuerySet

from trackers.notes.models import Note

# Of a day there is no row.
_MODELS = {
    Note.Kind.TWEET: "Tweet",
    Note.Kind.AUTHOR: "Author",
    Note.Kind.SOURCE: "Source",
    Note.Kind.TAG: "Tag",
}
_LARGEST_KEY = 2**63 - 1

Named = tuple[str, str]


def is_there(kind: str, key: str) -> bool:
    """Whether there is such a thing to write on."""
    if kind == Note.Kind.DAY:
        return _is_day(key)
    return _is_id(key) and kind in _MODELS and _rows(kind).filter(pk=int(key)).exists()


def names_of(notes: Iterable[Note]) -> dict[Named, str]:
    """What each is on, in words, by kind and key; a query a kind. Things that are gone are left
    out."""
    keys: dict[str, set[str]] = {}
    for note in notes:
        keys.setdefault(note.kind, set()).add(note.key)
    names = {(Note.Kind.DAY.value, day): day for day in keys.pop(Note.Kind.DAY, ())}
    for kind, wanted in keys.items():
        for row in _rows(kind).filter(pk__in=[int(key) for key in wanted]):
            name = f"tweet {row}" if kind == Note.Kind.TWEET else str(row)
            names[kind, str(row.pk)] = name
    return names


def _rows(kind: str) -> QuerySet[Model]:
    rows: QuerySet[Model] = apps.get_model("trackers", _MODELS[Note.Kind(kind)])._base_manager.all()
    # A tag that is being removed is no longer there.
    return rows.filter(ended_at=None) if kind == Note.Kind.TAG else rows


def _is_id(key: str) -> bool:
    """Written as we write it, so that a thing has one key."""
    is_digits = key.isascii() and key.isdigit() and len(key) < 20
    return is_digits and key == str(min(int(key), _LARGEST_KEY))


def _is_day(key: str) -> bool:
    try:
        return date.fromisoformat(key).isoformat() == key
    except ValueError:
        return False
