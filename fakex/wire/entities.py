"""What X recognises in a text: tags, names and links, and where they stand in it.

As in X's OpenAPI 2.166 (`FullTextEntities`) and 2.167 (`PostEntities`): kinds without anything are
left out; positions count characters, the end is beyond the last one; a post's own photos are links
too, with the key of the photo.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fakex.wire.operators import CASHTAG
from fakex.world import posts
from fakex.world.seeded import World

Entity = tuple[str, str, dict[str, Any]]  # the kind, what stands in the text, and what X adds


def entities_of(content: posts.Content, text: str, world: World) -> dict[str, list[dict[str, Any]]]:
    """Those that stand in `text`, which may be cut."""
    entities: dict[str, list[dict[str, Any]]] = {}
    for kind, part, about in _parts(content, world):
        start = text.find(part)
        if start >= 0:
            entities.setdefault(kind, []).append(
                {"start": start, "end": start + len(part), **about}
            )
    return entities


def v1_entities_of(content: posts.Content, text: str, world: World) -> dict[str, Any]:
    """The same as v1.1 has it: each kind is there, and media are a kind of their own."""
    entities = entities_of(content, text, world)
    links = entities.get("urls", [])
    return {
        "hashtags": [_v1(one, text=one["tag"]) for one in entities.get("hashtags", ())],
        "symbols": [_v1(one, text=one["tag"]) for one in entities.get("cashtags", ())],
        "user_mentions": [
            _v1(one, screen_name=one["username"], id_str=one["id"])
            for one in entities.get("mentions", ())
        ],
        "urls": [_v1_link(one) for one in links if "media_key" not in one],
        "media": [
            _v1_link(one) | {"id_str": id, "type": _V1_TYPES.get(category, "photo")}
            for one in links
            if "media_key" in one
            for category, _, id in [one["media_key"].partition("_")]
        ],
    }


_V1_TYPES = {"3": "photo", "7": "video", "13": "video", "16": "animated_gif"}


def _v1(entity: dict[str, Any], **about: str) -> dict[str, Any]:
    return {**about, "indices": [entity["start"], entity["end"]]}


def _v1_link(one: dict[str, Any]) -> dict[str, Any]:
    names = ("url", "expanded_url", "display_url")
    return _v1(one, **{name: one[name] for name in names})


def _parts(content: posts.Content, world: World) -> Iterator[Entity]:
    for tag in content.tags:
        yield "hashtags", "#" + tag, {"tag": tag}
    for tag in dict.fromkeys(CASHTAG.findall(content.text)):
        yield "cashtags", "$" + tag, {"tag": tag}
    for author in content.mentions:
        person = world.people_at_first[author]
        about = {"username": person.username, "id": str(person.id)}
        yield "mentions", "@" + person.username, about
    for address in content.links:
        url = posts.shortened(address)
        display = address.partition("://")[2]
        yield "urls", url, {"url": url, "expanded_url": address, "display_url": display}
    for key in content.media:
        url = posts.shortened(content.media[0])
        display = "pic.x.com/" + url.rpartition("/")[2]
        address = f"https://x.com/i/status/{key.partition('_')[2]}/photo/1"
        about = {"url": url, "expanded_url": address, "display_url": display, "media_key": key}
        yield "urls", url, about
