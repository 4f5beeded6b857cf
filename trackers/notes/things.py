"""The things that notes are on. Their parts stand on this one, so models are found by name."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from django.apps import apps
from django.db.models import Model, QuerySet

from trackers.notes.models import Note

# Of the others there is no row.
_MODELS = {
    Note.Kind.TWEET: "Tweet",
    Note.Kind.AUTHOR: "Author",
    Note.Kind.SOURCE: "Source",
    Note.Kind.TAG: "Tag",
}
_LARGEST_KEY = 2**63 - 1
# What has a name alone, and how that is said.
_NAMES_ALONE = {Note.Kind.HASHTAG: "#{}", Note.Kind.DOMAIN: "{}", Note.Kind.LANGUAGE: "language {}"}
_ALL_KEY = "all"

Named = tuple[str, str]


def is_there(kind: str, key: str) -> bool:
    """Whether there is such a thing to write on."""
    return name_of(kind, key) is not None


def name_of(kind: str, key: str) -> str | None:
    """What it is, in words; None if there is no such thing."""
    if kind in _MODELS:
        row = _rows(kind).filter(pk=int(key)).first() if _is_id(key) else None
        return None if row is None else _name_of_row(kind, row)
    if kind == Note.Kind.ALL:
        is_one = key == _ALL_KEY
    else:
        is_one = _is_day(key) if kind == Note.Kind.DAY else kind in _NAMES_ALONE and _is_name(key)
    return _name_without_row(kind, key) if is_one else None


def names_of(notes: Iterable[Note]) -> dict[Named, str]:
    """What each is on, in words, by kind and key; a query a kind. Things that are gone are left
    out."""
    keys: dict[str, set[str]] = {}
    for note in notes:
        keys.setdefault(note.kind, set()).add(note.key)
    names: dict[Named, str] = {}
    for kind, wanted in keys.items():
        if kind in _MODELS:
            rows = _rows(kind).filter(pk__in=[int(key) for key in wanted])
            names |= {(kind, str(row.pk)): _name_of_row(kind, row) for row in rows}
        else:
            names |= {(kind, key): _name_without_row(kind, key) for key in wanted}
    return names


def _name_of_row(kind: str, row: Model) -> str:
    return f"tweet {row}" if kind == Note.Kind.TWEET else str(row)


def _name_without_row(kind: str, key: str) -> str:
    """Of a day, of a name, or of all tweets."""
    if kind == Note.Kind.ALL:
        return "All tweets"
    return _NAMES_ALONE[Note.Kind(kind)].format(key) if kind in _NAMES_ALONE else key


def _rows(kind: str) -> QuerySet[Model]:
    rows: QuerySet[Model] = apps.get_model("trackers", _MODELS[Note.Kind(kind)])._base_manager.all()
    # A tag that is being removed is no longer there.
    return rows.filter(ended_at=None) if kind == Note.Kind.TAG else rows


def _is_id(key: str) -> bool:
    """Written as we write it, so that a thing has one key."""
    is_digits = key.isascii() and key.isdigit() and len(key) < 20
    return is_digits and key == str(min(int(key), _LARGEST_KEY))


def _is_name(key: str) -> bool:
    """Written as it is stored."""
    return bool(key) and key == key.lower() and key.isprintable() and not set(key) & set(" #,/")


def _is_day(key: str) -> bool:
    try:
        return date.fromisoformat(key).isoformat() == key
    except ValueError:
        return False
