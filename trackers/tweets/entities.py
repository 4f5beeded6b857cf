"""The tags, names and links of posts as they are stored, beside their texts."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import orjson

from trackers.xapi.results import Link, Post

ENTITY_NAMES = ("hashtags", "cashtags", "mentions", "domains", "links")
# In a statement, after `FROM … posted`: the columns that `entities_json` has made.
ENTITY_COLUMNS = """
    jsonb_to_record(coalesce(posted.entities, '{}')::jsonb) AS entities(
        hashtags text[], cashtags text[], mentions text[], domains text[], links jsonb)
"""
_STATUS = re.compile(
    r"https?://(?:www\.|mobile\.)?(?:x|twitter)\.com/(?:i/web|\w+)/status/(\d{1,19})", re.ASCII
)


def entities_json(post: Post) -> str | None:
    """For the columns; None where nothing is known of them, or there is nothing."""
    entities = post.entities
    if entities is None:
        return None
    own = {str(id) for id in (post.id, *post.edit_history)}
    # X ends a text that it has cut with a link to the post itself.
    links = [link for link in entities.links if link.of_media or _post_named(link) not in own]
    columns: dict[str, Any] = {
        "hashtags": entities.hashtags,
        "cashtags": entities.cashtags,
        "mentions": entities.mentions,
        "domains": _domains(links, quoted=post.quoted),
        "links": [link._asdict() for link in links],
    }
    return orjson.dumps({name: value for name, value in columns.items() if value}).decode()


def _domains(links: list[Link], *, quoted: int | None) -> list[str]:
    """Where the links lead, each once: not those to media, nor to the post that is quoted."""
    domains = (
        domain_of(link.address)
        for link in links
        if not link.of_media and _post_named(link) != str(quoted)
    )
    return list(dict.fromkeys(filter(None, domains)))


def domain_of(address: str) -> str:
    """In lower case, without "www."; empty for what is no address."""
    try:
        host = urlsplit(address if "//" in address else f"//{address}").hostname or ""
    except ValueError:
        return ""
    return host.removeprefix("www.")


def _post_named(link: Link) -> str:
    match = _STATUS.match(link.address)
    return match[1] if match else ""
