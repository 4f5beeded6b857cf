"""`GET /2/lists/:id`: what X says about a list, by OpenAPI 2.166 (2026-08-07; 2.167 has the owner
only as an expansion)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import orjson

from fakex.wire import problems
from fakex.wire.escapes import v2_time
from fakex.wire.fields import USER_FIELDS
from fakex.wire.requests_v2 import ID, Complaint, Invalid, Shape
from fakex.wire.users import user_v2
from fakex.world.seeded import Moment, World

_LIST_FIELDS = (
    "created_at",
    "description",
    "follower_count",
    "id",
    "member_count",
    "name",
    "owner_id",
    "private",
)
_KNOWN = {"list.fields": _LIST_FIELDS, "expansions": ("owner_id",), "user.fields": USER_FIELDS}


@dataclass(frozen=True, slots=True)
class ListAsk:
    """One list."""

    list_id: str
    params: dict[str, frozenset[str]]
    ids: list[str] = field(default_factory=list)  # empty: nothing is requested by id


def read_list(subject: str, query: str) -> ListAsk:
    """The list asked for; raises Invalid with all complaints."""
    complaints: list[Complaint] = []
    params: dict[str, frozenset[str]] = {}
    for name, text in parse_qsl(query):
        params[name] = frozenset(filter(None, text.split(",")))
        if name not in _KNOWN:
            message = f"The query parameter [{name}] is not one of [id,{','.join(_KNOWN)}]"
            complaints.append((name, [text], message))
            continue
        for value in sorted(params[name].difference(_KNOWN[name])):
            message = f"The `{name}` query parameter value [{value}] is not one of "
            complaints.append((name, [value], f"{message}[{','.join(_KNOWN[name])}]"))
    if not ID.match(subject):
        message = f"The `id` query parameter value [{subject}] does not match ^[0-9]{{1,19}}$"
        complaints.append(("id", [subject], message))
    if complaints:
        raise Invalid(complaints)
    return ListAsk(subject, params)


def list_body(
    ask: ListAsk, *, world: World, moment: Moment, host: str, posts: bool
) -> tuple[bytes, bool]:
    """The 200 body, and whether the list is in it. `posts`: in the vocabulary of `post.fields`."""
    members = world.lists.get(int(ask.list_id))
    if members is None:
        return orjson.dumps({"errors": [problems.list_not_found(ask.list_id, host)]}), False
    owner = world.people_by_id[min(members)] if members else world.people[0]
    everything: dict[str, Any] = {
        "created_at": v2_time(owner.created_ms),
        "description": "Accounts that somebody reads together.",
        "follower_count": int(ask.list_id) % 97,
        "member_count": len(members),
        "owner_id": str(owner.id),
        "private": False,
    }
    wanted = ask.params.get("list.fields", frozenset())
    expanded = "owner_id" in ask.params.get("expansions", ())
    if expanded:
        wanted |= {"owner_id"}
    data = {"id": ask.list_id, "name": f"List {ask.list_id}"}
    data |= {name: value for name, value in everything.items() if name in wanted}
    body: dict[str, Any] = {"data": data}
    if expanded:
        shape = Shape(user_fields=ask.params.get("user.fields", frozenset()), posts=posts)
        body["includes"] = {"users": [user_v2(owner, shape, world=world, moment=moment)]}
    return orjson.dumps(body), True
