"""Notes in the API: list, write, change, remove."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import AwareDatetime, Field, StrictStr

from trackers.api.wire.auth import acted, actor_of, require_permission
from trackers.api.wire.errors import refusal
from trackers.api.wire.fields import NO_CONTENT, DigitsOut, TimeOut, UnsignedId
from trackers.api.wire.parameters import cursor_of, position_of
from trackers.notes import acts
from trackers.notes.models import MAX_KEY_LENGTH, MAX_NOTE_LENGTH, Note
from tweetwatch.clock_times import iso
from tweetwatch.http.json_bodies import Strict

router = Router(tags=["notes"])
_MAX_NOTES = 200

ThingKind = Annotated[str, Field(pattern="^[a-z]{0,10}$")]
ThingKey = Annotated[str, Field(max_length=MAX_KEY_LENGTH, pattern=r"^[\w:.@-]*$")]
NoteText = Annotated[StrictStr, Field(min_length=1, max_length=MAX_NOTE_LENGTH)]


class NoteOut(Schema):
    """`kind` and `key`: what it is on; `at`: the time that it is about; `by`: null once the account
    is gone."""

    id: DigitsOut
    kind: str
    key: str
    at: TimeOut
    text: str
    by: str | None
    written_at: TimeOut
    changed_at: TimeOut | None


class NotesOut(Schema):
    notes: list[NoteOut]
    next: str | None


class NoteIn(Strict):
    """`kind`: tweet, author, source or tag, with its id as `key`; hashtag, domain or language, with
    the name; all, with `all`; or day, with a date. `at`: the time that it is about, now if there is
    none."""

    kind: ThingKind
    key: ThingKey
    text: NoteText
    at: AwareDatetime | None = None


class NoteChangeIn(Strict):
    text: NoteText
    at: AwareDatetime | None = None


@router.get("", response=NotesOut)
def list_notes(
    request: HttpRequest,
    kind: ThingKind = "",
    key: ThingKey = "",
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
    limit: Annotated[int, Query(ge=1, le=_MAX_NOTES)] = 50,
    cursor: str = "",
) -> dict[str, Any]:
    """The newest first; of one kind of thing, of one thing, and about a time from `since` up to
    before `until`."""
    require_permission(request, "trackers.view_note")
    of = f"notes:{kind}:{key}:{since}:{until}"
    filters: dict[str, str | datetime | None] = {
        "kind": kind, "key": key, "at__gte": since, "at__lt": until,
    }  # fmt: skip
    rows = Note.objects.filter(**{name: asked for name, asked in filters.items() if asked})
    if position := position_of(cursor, of=of):
        rows = rows.filter(pk__lt=position)
    fetched = list(rows.select_related("written_by").order_by("-pk")[: limit + 1])
    page = fetched[:limit]
    return {
        "notes": [_note_json(note) for note in page],
        "next": cursor_of(page[-1].pk, of=of) if len(fetched) > limit else None,
    }


@router.post("", response={201: NoteOut})
def write_note(request: HttpRequest, body: NoteIn) -> Status:
    """422 if there is no such thing."""
    actor = actor_of(request, acts.ADD)
    try:
        note = acts.add(body.kind, body.key, body.text, actor, at=body.at)
    except ValidationError as wrong:
        raise refusal(wrong.message_dict) from None
    return Status(201, _note_json(note))


@router.patch("/{note}", response=NoteOut)
def change_note(request: HttpRequest, note: UnsignedId, body: NoteChangeIn) -> dict[str, Any]:
    """Without `at` it stays at its time."""
    actor = actor_of(request, acts.CHANGE)
    changed = _find_note(note)
    try:
        acts.edit(changed, actor, text=body.text, at=body.at)
    except ValidationError as wrong:
        raise refusal(wrong.message_dict) from None
    return _note_json(changed)


@router.delete("/{note}", response=NO_CONTENT)
def remove_note(request: HttpRequest, note: UnsignedId) -> Status:
    return acted(request, acts.ACTS["remove"], _find_note, note)


def _find_note(id: int) -> Note:
    note = Note.objects.select_related("written_by").filter(pk=id).first()
    if note is None:
        raise LookupError(f"There is no note {id}.")
    return note


def _note_json(note: Note) -> dict[str, Any]:
    return {
        **{name: getattr(note, name) for name in ("kind", "key", "text")},
        "id": note.pk,
        "at": iso(note.at),
        "by": note.written_by.get_username() if note.written_by else None,
        "written_at": iso(note.written_at),
        "changed_at": iso(note.changed_at),
    }
