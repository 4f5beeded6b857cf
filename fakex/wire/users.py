"""Users as v2 and v1.1 show them, and the bodies of requests for them."""

from __future__ import annotations

from typing import Any

import orjson

from fakex.wire import problems
from fakex.wire.escapes import v1_time, v2_time
from fakex.wire.requests_v2 import LookupAsk, Shape
from fakex.world.authors import Author
from fakex.world.seeded import Moment, World


def user_v2(author: Author, shape: Shape, *, world: World, moment: Moment) -> dict[str, Any]:
    everything: dict[str, Any] = {
        "created_at": v2_time(author.created_ms),
        "protected": world.author_state(author, moment) == "protected",
        "verified": author.verified,
        "description": f"{author.name} writes here.",
        "location": "Elsewhere",
        "public_metrics": {
            "followers_count": author.id % 9973,
            "following_count": author.id % 499,
            "post_count" if shape.posts else "tweet_count": author.id % 49999,
            "listed_count": author.id % 53,
            "like_count": author.id % 7001,
        },
    }
    fields_shown = {name: value for name, value in everything.items() if name in shape.user_fields}
    return {"id": str(author.id), "name": author.name, "username": author.username, **fields_shown}


def user_v1(author: Author, *, world: World, moment: Moment) -> dict[str, Any]:
    return {
        "id": author.id,
        "id_str": str(author.id),
        "name": author.name,
        "screen_name": author.username,
        "protected": world.author_state(author, moment) == "protected",
        "followers_count": author.id % 9973,
        "friends_count": author.id % 499,
        "statuses_count": author.id % 49999,
        "created_at": v1_time(author.created_ms),
        "verified": author.verified,
    }


def users_body(
    ask: LookupAsk, parameter: str, *, world: World, moment: Moment, host: str
) -> tuple[bytes, list[int]]:
    """The 200 body for users by `id`, `ids`, `username` or `usernames`, and who is in it; others
    are errors."""
    author_ids: list[int] = []
    users: list[dict[str, Any]] = []
    errors: list[problems.Problem] = []
    for value in ask.ids:
        if parameter in ("id", "ids"):
            author = world.people_by_id.get(int(value))
        else:
            author = world.people_by_username.get(value.lower())
        if author is None:
            errors.append(problems.user_not_found(value, parameter, host))
        elif world.author_state(author, moment) == "suspended":
            errors.append(problems.user_suspended(value, parameter, host))
        else:
            author_ids.append(author.id)
            users.append(user_v2(author, ask.shape, world=world, moment=moment))
    body: dict[str, Any] = {"data": users} if users else {}
    if errors:
        body["errors"] = errors
    return orjson.dumps(body), author_ids
