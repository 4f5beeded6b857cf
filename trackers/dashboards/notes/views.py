"""The page of all notes, or of those on one thing, and what a person does with notes."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from trackers.dashboards.access import needs, require_permission
from trackers.dashboards.minute_fields import MinuteField
from trackers.dashboards.note_lists import (
    keep_removed,
    open_removed,
    page_of_thing,
    take_removed,
)
from trackers.dashboards.page_acts import form_page, show_message
from trackers.history import on_page
from trackers.notes import acts
from trackers.notes.models import MAX_NOTE_LENGTH, Note
from trackers.notes.things import names_of

VIEW_NOTES = "trackers.view_note"
_NOTES_SHOWN = 50


class NoteForm(forms.Form):
    """What it says, and of when; a note on a day has no other time."""

    text = forms.CharField(
        label="Note",
        max_length=MAX_NOTE_LENGTH,
        widget=forms.Textarea({"rows": 3}),
        error_messages={"required": "A note needs some words."},
    )
    at = MinuteField(label="Of when (empty: now)", required=False)


class _WrittenForm(NoteForm):
    """A new note on a thing."""

    kind = forms.ChoiceField(choices=Note.Kind.choices, widget=forms.HiddenInput)
    key = forms.CharField(label="Day", widget=forms.HiddenInput)


@dataclass(frozen=True, slots=True)
class _NoteRow:
    note: Note
    # What it is on; empty for what is no longer there.
    name: str
    address: str


@require_safe
@needs(VIEW_NOTES)
def notes(request: HttpRequest) -> HttpResponse:
    """The newest first, of all things or of one."""
    kind, key = (request.GET.get(name, "")[:100].replace("\0", "") for name in ("kind", "key"))
    before = request.GET.get("before", "")
    rows = Note.objects.select_related("written_by").order_by("-pk")
    if kind:
        rows = rows.filter(kind=kind[:10])
    if key:
        rows = rows.filter(key=key)
    if before.isascii() and before.isdigit() and len(before) < 19:
        rows = rows.filter(pk__lt=int(before))
    read = list(rows[: _NOTES_SHOWN + 1])
    names = names_of(read)
    shown_rows = [
        _NoteRow(
            note,
            name := names.get((note.kind, note.key), ""),
            page_of_thing(note.kind, note.key, name=name)
            if name and note.kind != Note.Kind.DAY
            else "",
        )
        for note in read[:_NOTES_SHOWN]
    ]
    older = (
        {"kind": kind, "key": key, "before": str(read[_NOTES_SHOWN - 1].pk)}
        if (len(read) > _NOTES_SHOWN)
        else {}
    )
    context = {
        "now": timezone.now(),
        "rows": shown_rows,
        "only": names.get((kind, key), "") if kind and key else "",
        "is_narrowed": bool(kind or key),
        "older": urlencode({name: value for name, value in older.items() if value}),
        "removed": take_removed(request),
        "today": timezone.localdate().isoformat(),
        "most": MAX_NOTE_LENGTH,
    }
    return render(request, "dashboards/notes/page.html", context)


@require_POST
@needs(acts.ADD)
def write_note(request: HttpRequest) -> HttpResponse:
    form = _WrittenForm(request.POST)
    if form.is_valid():
        asked = form.cleaned_data
        try:
            note = acts.add(
                asked["kind"],
                asked["key"],
                asked["text"],
                on_page(request.user),
                at=asked["at"],
            )
        except ValidationError as wrong:
            form.add_error(None, [fault for each in wrong.message_dict.values() for fault in each])
        else:
            messages.success(request, "The note is written.")
            return redirect(page_of_thing(note.kind, note.key))
    return form_page(request, "dashboards/notes/form.html", form, fields=_asked_fields(form))


@require_http_methods(["GET", "HEAD", "POST"])
@needs(VIEW_NOTES)
def edit_note(request: HttpRequest, id: int) -> HttpResponse:
    require_permission(request, acts.CHANGE)
    note = get_object_or_404(Note, pk=id)
    form = NoteForm(request.POST or None, initial={"text": note.text, "at": note.at})
    if note.kind == Note.Kind.DAY:
        del form.fields["at"]
    else:
        form.fields["at"].label = "Of when"
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        try:
            done = acts.edit(note, on_page(request.user), text=asked["text"], at=asked.get("at"))
        except ValidationError as wrong:
            form.add_error(None, [fault for each in wrong.message_dict.values() for fault in each])
        else:
            show_message(request, done)
            return redirect(page_of_thing(note.kind, note.key))
    return form_page(
        request, "dashboards/notes/form.html", form, note=note, fields=_asked_fields(form)
    )


def _asked_fields(form: forms.Form) -> list[forms.BoundField]:
    """Those to type into: of a note on a day the day, and no time."""
    if form.data.get("kind") == Note.Kind.DAY:
        form.fields["key"].widget = forms.DateInput({"type": "date"})
        return [form[name] for name in ("key", "text")]
    return [form[name] for name in ("text", "at") if name in form.fields]


@require_POST
@needs(acts.DELETE)
def remove_note(request: HttpRequest, id: int) -> HttpResponseRedirect:
    """At once: the next page can bring it back."""
    note = get_object_or_404(Note, pk=id)
    keep_removed(request, note)
    acts.remove(note, on_page(request.user))
    return redirect(page_of_thing(note.kind, note.key))


@require_POST
@needs(acts.ADD)
def undo_removal(request: HttpRequest) -> HttpResponseRedirect:
    removed = open_removed(request.POST.get("removed", "")[:20_000])
    if removed is None:
        messages.error(request, "It is too late to undo that.")
        return redirect("notes")
    show_message(request, acts.restore(removed, on_page(request.user)))
    return redirect(page_of_thing(removed["kind"], removed["key"]))
