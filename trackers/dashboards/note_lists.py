"""The notes on a thing, as its page lists them: `{% notes_on "tweet" tweet.pk as listed %}`.

A template asks for them itself, so that a page takes one line to have them.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.core import signing
from django.http import HttpRequest
from django.template import Context, Library
from django.urls import reverse
from django.utils import timezone

from trackers.dashboards.access import VIEW_SOURCES, VIEW_TWEETS
from trackers.notes.acts import undoing
from trackers.notes.models import Note
from trackers.sets.kinds import SetKind
from trackers.tweets.tags.models import Tag

register = Library()
# A page lists this many, and leads to all of them.
_MAX_LISTED = 20
# In the session: the note that was just removed, for the page that is shown next.
_REMOVED_NOTE = "removed_note"
_SALT = "removed note"
# The page of each kind of thing, and what it takes to see it.
_PAGES = {
    Note.Kind.TWEET: ("tweet", VIEW_TWEETS),
    Note.Kind.AUTHOR: ("author", VIEW_TWEETS),
    Note.Kind.SOURCE: ("source", VIEW_SOURCES),
}


@dataclass(frozen=True, slots=True)
class NoteList:
    """The newest notes on a thing."""

    notes: list[Note]
    # There are older ones.
    has_more: bool
    # What the page of all notes takes to show these.
    query: str
    # Signed: the note that was removed from here, to bring it back.
    removed: str


@register.simple_tag(takes_context=True)
def notes_on(context: Context, kind: str, key: object) -> NoteList | None:
    """None where the person may not read notes."""
    request: HttpRequest = context["request"]
    if not request.user.has_perm("trackers.view_note"):
        return None
    notes = Note.objects.on(kind, key).select_related("written_by").newest_first()
    newest = list(notes[: _MAX_LISTED + 1])
    return NoteList(
        notes=newest[:_MAX_LISTED],
        has_more=len(newest) > _MAX_LISTED,
        query=urlencode({"kind": kind, "key": key}),
        removed=take_removed(request, kind, str(key)),
    )


@register.simple_tag
def note_zone() -> str:
    """In which zone the time of a note is typed."""
    return timezone.get_current_timezone_name()


def keep_removed(request: HttpRequest, note: Note) -> None:
    """For the page that is shown next: it says so, and can bring the note back."""
    request.session[_REMOVED_NOTE] = undoing(note)


def take_removed(request: HttpRequest, kind: str = "", key: str = "") -> str:
    """What was removed from this thing, or from any without one; signed, and only once."""
    removed = request.session.get(_REMOVED_NOTE)
    if removed is None or (kind and (removed["kind"], removed["key"]) != (kind, key)):
        return ""
    del request.session[_REMOVED_NOTE]
    return signing.dumps(removed, salt=_SALT)


def open_removed(signed: str) -> dict[str, str] | None:
    """None if it is not ours, or of yesterday."""
    try:
        opened: dict[str, str] = signing.loads(signed, salt=_SALT, max_age=86400)
    except signing.BadSignature:
        return None
    return opened


def page_of_thing(kind: str, key: str, *, name: str = "") -> str:
    """The address of the page that shows its notes. `name`: of a tag, where it is known."""
    if kind in _PAGES:
        return f"{reverse(_PAGES[Note.Kind(kind)][0], args=[int(key)])}#notes"
    if kind == Note.Kind.TAG:
        names = Tag.objects.live().filter(pk=int(key)).values_list("name", flat=True)
        return f"{reverse('tweets')}?{urlencode({'tag': name or names.first() or ''})}#notes"
    return (
        f"{reverse('set', args=[kind, key])}#notes" if kind in SetKind.values else reverse("notes")
    )
