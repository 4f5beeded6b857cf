"""People write notes, change them and remove them: each act is in the history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from trackers import history
from trackers.acts import Act, Done
from trackers.history import Actor
from trackers.notes.models import MAX_NOTE_LENGTH, Note
from trackers.notes.things import is_there

ADD, CHANGE, DELETE = (f"trackers.{verb}_note" for verb in ("add", "change", "delete"))
# On a thing; a page shows the newest.
MAX_ON_A_THING = 1000
_EARLIEST = datetime(2006, 1, 1, tzinfo=UTC)
_LATEST_AHEAD = timedelta(days=3660)


def add(kind: str, key: str, text: str, actor: Actor, *, at: datetime | None = None) -> Note:
    """Write on this thing. `at`: the time that it is about, now if there is none; a day is its own.

    A ValidationError says by field what is wrong; nothing is stored then.
    """
    text, at = _checked(text, _time_of_day(key) if kind == Note.Kind.DAY else at)
    if kind not in Note.Kind.values:
        raise ValidationError({"kind": f"Notes are on {', '.join(Note.Kind.labels)}."})
    if not is_there(kind, key):
        raise ValidationError({"key": f"There is no {kind} {key[:40]}."})
    if Note.objects.on(kind, key).count() >= MAX_ON_A_THING:
        raise ValidationError({"text": f"There are {MAX_ON_A_THING:,} notes on it: remove some."})
    note = Note.objects.create(
        kind=kind, key=key, text=text, at=at or timezone.now(), written_by_id=actor.account
    )
    note.refresh_from_db()
    history.record(actor, [note], f"Written on {_thing(note)}", flag=history.ADDITION)
    return note


def edit(note: Note, actor: Actor, *, text: str, at: datetime | None = None) -> Done:
    """Change what it says, and the time that it is about; a day keeps its own."""
    text, at = _checked(text, at)
    note.text, note.changed_at = text, timezone.now()
    if at is not None and note.kind != Note.Kind.DAY:
        note.at = at
    note.save(update_fields=["text", "at", "changed_at"], force_update=True)
    history.record(actor, [note], f"Changed the note on {_thing(note)}")
    return Done("The note is changed.", 1)


def remove(note: Note, actor: Actor) -> Done:
    history.record(actor, [note], f"Removed the note on {_thing(note)}", flag=history.DELETION)
    note.delete()
    return Done("The note is removed.", 1)


def undoing(note: Note) -> dict[str, Any]:
    """What brings it back once it is removed, for JSON."""
    return {
        **{name: getattr(note, name) for name in ("kind", "key", "text", "written_by_id")},
        **{name: getattr(note, name).isoformat() for name in ("at", "written_at")},
    }


def restore(removed: dict[str, Any], actor: Actor) -> Done:
    """Undo a removal: the note is its writer's, and of the time when it was written."""
    times = {name: parse_datetime(removed[name]) for name in ("at", "written_at")}
    if not is_there(removed["kind"], removed["key"]):
        return Done("What the note was on is no longer there.", is_done=False)
    note = Note.objects.create(**{**removed, **times})
    history.record(actor, [note], f"Brought back the note on {_thing(note)}", flag=history.ADDITION)
    return Done("The note is back.", 1)


def _checked(text: str, at: datetime | None) -> tuple[str, datetime | None]:
    text = text.replace("\0", "").strip()
    if not text:
        raise ValidationError({"text": "A note needs some words."})
    if len(text) > MAX_NOTE_LENGTH:
        raise ValidationError({"text": f"At most {MAX_NOTE_LENGTH:,} characters."})
    if at is not None and not _EARLIEST <= at <= timezone.now() + _LATEST_AHEAD:
        raise ValidationError({"at": "A time since 2006, and in the next ten years at most."})
    return text, at


def _time_of_day(key: str) -> datetime | None:
    try:
        return datetime.fromisoformat(key[:10]).replace(tzinfo=UTC)
    except ValueError:
        return None


def _thing(note: Note) -> str:
    return f"the {note.kind} {note.key}"


ACTS = {"remove": Act(remove, DELETE)}
