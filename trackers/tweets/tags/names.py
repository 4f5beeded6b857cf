"""Valid names of tags, and tags by name."""

from __future__ import annotations

import unicodedata

from django.db import IntegrityError, transaction

from trackers.tweets.tags.models import NAME_MOST, Tag

# How many are offered in a list to choose from.
OFFERED_MOST = 200


class TagName(ValueError):
    """A tag cannot have this name; the message says why, and what to do."""


def cleaned(typed: str) -> str:
    """The name as typed, without a leading #. Raises TagName if it is not allowed."""
    name = " ".join(unicodedata.normalize("NFC", typed).split()).removeprefix("#").strip()
    if not name:
        raise TagName("The tag needs a name.")
    if len(name) > NAME_MOST:
        raise TagName(f"The name of a tag has up to {NAME_MOST} characters. Choose a shorter one.")
    if "," in name:
        raise TagName("A tag has no comma in its name. Add one tag at a time.")
    if not name.isprintable():
        raise TagName("This name has characters that cannot be shown. Type it again.")
    return name


def named(typed: str) -> Tag | None:
    """The tag of this name, ignoring case."""
    try:
        name = cleaned(typed)
    except TagName:
        return None
    return Tag.objects.called(name).first()


def made(typed: str) -> Tag:
    """The tag of this name, created if there is none. Raises TagName if it is not allowed."""
    name = cleaned(typed)
    while True:
        if found := named(name):
            return found
        try:
            with transaction.atomic():
                return Tag.objects.create(name=name)
        except IntegrityError:
            # It was created just now by somebody else, or ended before it was found.
            continue


def offered() -> list[str]:
    """The names of tags, in alphabetical order."""
    return list(Tag.objects.live().by_name().values_list("name", flat=True)[:OFFERED_MOST])
