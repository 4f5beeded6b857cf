"""What a set of tweets is: a kind and a key, as notes name things. The one place that knows them.

all · author, source, tag, view: by the id of their row · hashtag, domain, language: by the name
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import TextChoices

from trackers.notes.models import MAX_KEY_LENGTH
from trackers.notes.things import name_of
from trackers.saved_views.models import SavedView
from trackers.tweets.entities import domain_of
from trackers.tweets.finding.names import authors_called
from trackers.tweets.models import Author
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import find_tag

# The key of the set of all tweets.
ALL_KEY = "all"
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_VIEW_TWEETS, _VIEW_SOURCES = "trackers.view_tweet", "trackers.view_source"


class SetKind(TextChoices):
    ALL = "all", "all tweets"
    AUTHOR = "author", "an author"
    SOURCE = "source", "a source"
    TAG = "tag", "a tag"
    VIEW = "view", "a saved view"
    HASHTAG = "hashtag", "a hashtag"
    DOMAIN = "domain", "a domain"
    LANGUAGE = "language", "a language"


@dataclass(frozen=True, slots=True)
class TweetSet:
    """A set that is there, and that the person who asked may see."""

    kind: SetKind
    key: str
    title: str
    # Of a saved view: what it asks for, as `SavedView.query`.
    query: str = ""

    @property
    def address(self) -> str:
        """As pages and shares name it: "author/42"."""
        return f"{self.kind.value}/{self.key}"

    @property
    def has_notes(self) -> bool:
        """A saved view is one person's or a team's, and notes are everybody's."""
        return self.kind != SetKind.VIEW

    @property
    def has_authors(self) -> bool:
        """Whether its tweets may be of several."""
        return self.kind != SetKind.AUTHOR


def permission_for(kind: str) -> str:
    """What it takes to see sets of this kind."""
    return _VIEW_SOURCES if kind == SetKind.SOURCE else _VIEW_TWEETS


def find_set(kind: str, key: str, reader: User | AnonymousUser) -> TweetSet | None:
    """The set of that name; None if there is none that this person may see.

    Its key may differ from what was typed: `#Moon` is the hashtag `moon`, `@vera` an author by
    name, and `#launch` a tag by name.
    """
    if kind not in SetKind.values or not reader.has_perm(permission_for(kind)):
        return None
    known = SetKind(kind)
    if known == SetKind.VIEW:
        return _find_view(key, reader)
    key = _plain_key(known, key)
    title = name_of(known, key)
    return None if title is None else TweetSet(known, key, title)


def _find_view(key: str, reader: User | AnonymousUser) -> TweetSet | None:
    """A person's own, or one that is shared with a team of theirs: nobody else sees it."""
    if not re.fullmatch(r"[1-9][0-9]{0,9}", key) or int(key) >= 2**31:
        return None
    view = SavedView.objects.seen_by(reader).filter(pk=int(key)).first()
    return TweetSet(SetKind.VIEW, key, view.title, query=view.query) if view else None


def _plain_key(kind: SetKind, typed: str) -> str:
    """As it is stored."""
    text = typed.replace("\0", "").strip()[:MAX_KEY_LENGTH]
    match kind:
        case SetKind.HASHTAG:
            return text.lstrip("#").lower()
        case SetKind.DOMAIN:
            return domain_of(text)
        case SetKind.LANGUAGE:
            lang = text.lower()
            return lang if _LANGUAGE.fullmatch(lang) else ""
        case SetKind.AUTHOR if text.startswith("@"):
            called = Author.objects.filter(pk__in=authors_called(text[1:]).ids)
            return _id_of(called.filter(username__iexact=text[1:]).first())
        case SetKind.TAG if text.startswith("#"):
            return _id_of(find_tag(text))
        case _:
            return text


def _id_of(row: Author | Tag | None) -> str:
    return "" if row is None else str(row.pk)
