"""What X recognised in a post's text: tags, names and links; in v2, v1.1 and X's archive.

X's positions are not read: they count differently from version to version, and a t.co address
stands in a text only once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from trackers.xapi.parse.fields import Broken, text_of
from trackers.xapi.results import Entities, Link

# Far more than a post of X can have: a file is not X.
_MOST_LISTED = 100
_LONGEST_NAME, _LONGEST_ADDRESS = 280, 2000
_OWN_ADDRESSES = "https://t.co/"

Part = Mapping[str, Any]


def read_entities(item: Part) -> Entities | None:
    """Of v2, by X's OpenAPI 2.166 (`FullTextEntities`, `note_tweet`) and 2.167 (`PostEntities`,
    `note_post`): those of the whole text and of the cut one, in which media are links too."""
    note = item.get("note_tweet") or item.get("note_post")
    parts = [one.get("entities") for one in (note, item) if type(one) is dict]
    return _entities_of(
        [part for part in parts if type(part) is dict],
        hashtags=("hashtags", "tag"),
        cashtags=("cashtags", "tag"),
        mentions=("mentions", "username"),
    )


def read_v1_entities(status: Part) -> Entities | None:
    """The same of v1.1 and X's archive."""
    return _entities_of(
        [part for part in (status.get("entities"),) if type(part) is dict],
        hashtags=("hashtags", "text"),
        cashtags=("symbols", "text"),
        mentions=("user_mentions", "screen_name"),
    )


def _entities_of(parts: list[Part], **kinds: tuple[str, str]) -> Entities | None:
    """None where X was not asked, or found nothing."""
    links = {
        link.url: link
        for part in parts[::-1]
        for one in chain(_listed_in(part, "urls"), _listed_in(part, "media"))
        if (link := _link_of(one))
    }
    names = {name: _names(parts, *kind) for name, kind in kinds.items()}
    entities = Entities(**names, links=tuple(links.values()))
    return entities if any(entities) else None


def _listed_in(part: Part, kind: str) -> Iterator[Part]:
    listed = part.get(kind)
    return (
        one for one in (listed[:_MOST_LISTED] if type(listed) is list else ()) if type(one) is dict
    )


def _names(parts: list[Part], kind: str, key: str) -> tuple[str, ...]:
    """Each once, in lower case, in the order of the text."""
    objects = chain.from_iterable(_listed_in(part, kind) for part in parts)
    names = (_text(one, key, _LONGEST_NAME).lower() for one in objects)
    return tuple(dict.fromkeys(filter(None, names)))


def _link_of(link: Part) -> Link | None:
    url = _text(link, "url", _LONGEST_ADDRESS)
    if not url.startswith(_OWN_ADDRESSES):
        return None
    unwound = link.get("unwound")
    final = unwound if type(unwound) is dict else {"url": link.get("unwound_url")}
    return Link(
        url,
        _text(link, "display_url", _LONGEST_ADDRESS),
        _text(final, "url", _LONGEST_ADDRESS) or _text(link, "expanded_url", _LONGEST_ADDRESS),
        # In v1.1 media are a kind of their own, and have a type.
        of_media=bool(link.get("media_key") or link.get("type")),
    )


def _text(fields: Part, name: str, most: int) -> str:
    """A text that can be stored; empty for all else."""
    try:
        text = text_of(fields, name) or ""
    except Broken:
        return ""
    return text if len(text) <= most else ""
