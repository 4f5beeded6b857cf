"""Bodies of v1.1 `statuses/lookup` with `map=true` ─> posts; a null is a tweet that is not shown.

v1.1 reports only retweets and likes, and never why a tweet is not shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trackers.xapi.errors import Garbage
from trackers.xapi.parse.entities import read_v1_entities
from trackers.xapi.parse.fields import (
    INT4,
    Broken,
    id_of,
    id_or_none,
    json_type_name,
    read_counts,
    read_object,
    short_text,
    text_of,
    v1_time,
)
from trackers.xapi.parse.v2 import read_withheld
from trackers.xapi.results import Figures, Lookup, Missing, Post, WindowSeen


def read_lookup(body: bytes, ids: Sequence[int], *, window: WindowSeen | None) -> Lookup:
    """The answer to `ids`; Garbage when the body is not one."""
    posts_by_id = read_object(body).get("id")
    if type(posts_by_id) is not dict:
        raise Garbage("X's answer has no map of ids.")
    posts: dict[int, Post] = {}
    missing: dict[int, Missing] = {}
    unread: list[str] = []
    broken: dict[int, str] = {}
    for id in ids:
        text = str(id)
        if text not in posts_by_id:
            continue
        status = posts_by_id[text]
        if status is None:
            missing[id] = "unavailable"
            continue
        try:
            posts[id] = read_status(status, id, unread)
        except Broken as error:
            broken[id] = str(error)
    return Lookup(posts, missing, broken, window, tuple(unread))


def read_status(status: Any, id: int, unread: list[str] | None = None) -> Post:
    """`unread` as in `v2.read_post`."""
    if type(status) is not dict:
        raise Broken(f"the tweet is {json_type_name(status)} instead of an object")
    if status.get("id_str", str(id)) != str(id):
        raise Broken("id_str is another tweet's")
    author_id, username = read_author(status.get("user"))
    return Post(
        id,
        author_id,
        v1_time(status, "created_at"),
        text_of(status, "full_text" if "full_text" in status else "text"),
        short_text(status, "lang", most=10),
        (),
        _read_figures(status, [] if unread is None else unread),
        username,
        read_withheld(
            {
                "country_codes": status.get("withheld_in_countries"),
                "copyright": status.get("withheld_copyright"),
            }
        ),
        replied_to=id_or_none(status.get("in_reply_to_status_id_str")),
        quoted=id_or_none(status.get("quoted_status_id_str")),
        retweeted=_retweeted(status.get("retweeted_status")),
        media_keys=read_media_keys(status),
        entities=read_v1_entities(status),
    )


def _retweeted(original: Any) -> int | None:
    return id_or_none(original.get("id_str")) if type(original) is dict else None


# What v2's keys of media begin with (7_; advertisers' videos have 13_): the rest is v1.1's id.
_CATEGORIES = {"photo": "3", "video": "7", "animated_gif": "16"}


def read_media_keys(status: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys by which v2 names the media of a post; of X's archive too."""
    entities = status.get("extended_entities")
    media = entities.get("media") if type(entities) is dict else None
    return tuple(
        f"{_CATEGORIES[one['type']]}_{id}"
        for one in (media if type(media) is list else ())
        if type(one) is dict
        and one.get("type") in _CATEGORIES
        and (id := id_or_none(one.get("id_str")))
    )


def read_author(user: Any) -> tuple[int | None, str]:
    if user is None:
        return None, ""
    if type(user) is not dict:
        raise Broken(f"user is {json_type_name(user)} instead of an object")
    return id_of(user.get("id_str"), "user.id_str"), short_text(user, "screen_name", most=50)


_V1_COUNTS = (("retweet_count", INT4), ("favorite_count", INT4))


def _read_figures(status: Mapping[str, Any], unread: list[str]) -> Figures:
    retweets, likes = read_counts(status, _V1_COUNTS, unread)
    return Figures(retweets, None, likes, None, None, None)
