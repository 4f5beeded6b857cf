"""Valid names of tags, and tags by name."""

from __future__ import annotations

import unicodedata

from django.db import IntegrityError, transaction

from trackers.tweets.tags.models import MAX_NAME_LENGTH, Tag

# How many are offered in a list to choose from.
_MAX_OFFERED = 200


class InvalidTagName(ValueError):
    """A tag cannot have this name; the message says why, and what to do."""


def clean_name(typed: str) -> str:
    """The name as typed, without a leading #. Raises TagName if it is not allowed."""
    name = " ".join(unicodedata.normalize("NFC", typed).split()).removeprefix("#").strip()
    if not name:
        raise InvalidTagName("The tag needs a name.")
    if len(name) > MAX_NAME_LENGTH:
        raise InvalidTagName(
            f"The name of a tag has up to {MAX_NAME_LENGTH} characters. Choose a shorter one."
        )
    if "," in name:
        raise InvalidTagName("A tag has no comma in its name. Add one tag at a time.")
    if not name.isprintable():
        raise InvalidTagName("This name has characters that cannot be shown. Type it again.")
    return name


def find_tag(typed: str) -> Tag | None:
    """The tag of this name, ignoring case."""
    try:
        name = clean_name(typed)
    except InvalidTagName:
        return None
    return Tag.objects.called(name).first()


def get_or_create_tag(typed: str) -> Tag:
    """The tag of this name, created if there is none. Raises TagName if it is not allowed."""
    name = clean_name(typed)
    while True:
        if tag := find_tag(name):
            return tag
        try:
            with transaction.atomic():
                return Tag.objects.create(name=name)
        except IntegrityError:
            # It was created just now by somebody else, or ended before it was found.
            continue


def offered_tags() -> list[str]:
    """The names of tags, in alphabetical order."""
    return list(Tag.objects.live().by_name().values_list("name", flat=True)[:_MAX_OFFERED])
