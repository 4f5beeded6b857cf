"""What people write on a tweet, on a set of tweets, or on a day: why a curve looks as it does.

A thing is named by its kind and key, so that a new kind needs no new table. It may be gone
tomorrow; what removes one calls `drop_notes`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

if TYPE_CHECKING:
    from typing import Self

MAX_NOTE_LENGTH = 1000
MAX_KEY_LENGTH = 100
# A chart with more marks shows nothing.
_MAX_MARKS = 200


class NoteQuerySet(models.QuerySet["Note"]):
    def on(self, kind: str, key: object) -> Self:
        """Those on this thing."""
        return self.filter(kind=kind, key=str(key))

    def newest_first(self) -> Self:
        return self.order_by("-at", "-pk")


class Note(models.Model):
    """A person's sentence on a thing, at a time."""

    class Kind(models.TextChoices):
        TWEET = "tweet", "a tweet"
        AUTHOR = "author", "an author"
        SOURCE = "source", "a source"
        TAG = "tag", "a tag"
        HASHTAG = "hashtag", "a hashtag"
        DOMAIN = "domain", "a domain"
        LANGUAGE = "language", "a language"
        ALL = "all", "all tweets"
        DAY = "day", "a day"

    kind = models.CharField(max_length=10, choices=Kind)
    # An id in digits; of a day, as 2026-03-14; a name in lower case; of all tweets, "all".
    key = models.CharField(max_length=MAX_KEY_LENGTH)
    # Where a chart shows it; of a day, the midnight in UTC at which it begins.
    at = models.DateTimeField()
    text = models.TextField(max_length=MAX_NOTE_LENGTH)
    written_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    written_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(null=True)

    objects = NoteQuerySet.as_manager()

    class Meta:
        indexes = [models.Index("kind", "key", "at", name="note_by_thing")]

    def __str__(self) -> str:
        return self.text[:60]

    @property
    def writer(self) -> str:
        return self.written_by.get_username() if self.written_by else "an account that is gone"

    @property
    def day(self) -> date | None:
        """The day that it is on."""
        return date.fromisoformat(self.key) if self.kind == Note.Kind.DAY else None


def notes_of(kind: str, key: object, between: tuple[datetime, datetime]) -> list[Note]:
    """What a chart of this thing shows: notes on it and on days, from the first time up to before
    the second, oldest first."""
    about = Q(kind=kind, key=str(key)) | Q(kind=Note.Kind.DAY)
    since, until = between
    notes = Note.objects.filter(about, at__gte=since, at__lt=until)
    return list(notes.select_related("written_by").order_by("at", "pk")[:_MAX_MARKS])


def drop_notes(kind: str, keys: Iterable[object]) -> None:
    """The things are gone, and what was written on them with them."""
    Note.objects.filter(kind=kind, key__in=[str(key) for key in keys]).delete()


def move_notes(kind: str, keys: Iterable[object], *, into: object) -> None:
    """The things are one now."""
    Note.objects.filter(kind=kind, key__in=[str(key) for key in keys]).update(key=str(into))
