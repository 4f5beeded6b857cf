"""The /_fake/ routes of posts that appear: flows, lists, and what really appeared when.

A flow is {"rate" or "rate_each": posts a second, "count", "authors": their ids or their number,
"starts_in_s", "lag": {...}, "tags": [...], "seed"} and the shares of `Flow`; all optional.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from itertools import islice
from typing import Any

from fakex.control.acts import Act, Body, Params
from fakex.wire.requests_v2 import Invalid
from fakex.world.feeds import Post
from fakex.world.flows import MOST_FLOWS, Flow, Flows, Lag
from fakex.world.seeded import World
from fakex.x import X

MOST_A_SECOND = 1_000_000
_FLOW_LENGTH = 100_000
# A request from the far future may read all of a flow at once: half a minute at this many.
MOST_POSTS = 1_000_000
_LAG = {field.name for field in fields(Lag)}
_SHARES = {"replies", "retweets", "quotes", "mentions", "links", "tagged"}
_FLOW = _SHARES | {"rate", "rate_each", "count", "authors", "starts_in_s", "lag", "tags", "seed"}


class Appearing:
    def __init__(self, x: X) -> None:
        self._x = x
        self.acts: dict[tuple[str, str], Act] = {
            ("GET", "posts"): self._show_flows,
            ("POST", "posts"): self._add_flow,
            ("DELETE", "posts"): self._end_flows,
            ("GET", "visible"): self._show_visible,
            ("GET", "lists"): self._show_lists,
            ("PUT", "lists"): self._set_list,
            ("DELETE", "lists"): self._clear_lists,
        }

    def _show_flows(self, _rest: str, _query: Params, _body: Body) -> Any:
        now_ms = self._x.now_ms()
        return {"now_ms": now_ms, "flows": [flow.to_dict(now_ms) for flow in self._x.world.flows]}

    def _add_flow(self, _rest: str, _query: Params, body: Body) -> Any:
        world, now_ms = self._x.world, self._x.now_ms()
        number = next((n for n in range(MOST_FLOWS) if n not in world.flows.flows), None)
        if number is None:
            raise ValueError(f"there are {MOST_FLOWS} flows already")
        flow = read_flow(body, world, number=number, now_ms=now_ms)
        self._x.replace_world(world.with_flows(world.flows.with_flow(flow)))
        return flow.to_dict(now_ms)

    def _end_flows(self, rest: str, _query: Params, _body: Body) -> Any:
        """End one flow, keeping its posts, or forget all flows and their posts."""
        world, now_ms = self._x.world, self._x.now_ms()
        if not rest:
            self._x.replace_world(world.with_flows(Flows()))
            return {"flows": []}
        flow = world.flows.flows[int(rest)]
        flow = replace(flow, count=flow.first_at(now_ms + 1))
        self._x.replace_world(world.with_flows(world.flows.with_flow(flow)))
        return flow.to_dict(now_ms)

    def _show_visible(self, _rest: str, query: Params, _body: Body) -> Any:
        """Posts that appeared from from_ms (the world's start) to until_ms (now), in that order."""
        world, now_ms = self._x.world, self._x.now_ms()
        from_ms = int(query.get("from_ms", world.clock.start_ms))
        until_ms = int(query.get("until_ms", now_ms))
        listed = self._listed(query, world, max(now_ms, until_ms))
        posts = [post for post in listed if from_ms <= post.visible_ms <= until_ms]
        posts.sort(key=lambda post: (post.visible_ms, post.id))
        offset = int(query.get("offset", 0))
        page = islice(posts, offset, offset + int(query.get("limit", len(posts))))
        moment = world.moment(now_ms)
        return {
            "now_ms": now_ms,
            "total": len(posts),
            "posts": [
                {
                    "id": str(post.id),
                    "author_id": str(world.people[post.author].id),
                    "kind": post.kind,
                    "born_ms": post.traits.born_ms,
                    "visible_at_ms": post.visible_ms,
                    "state": world.state(post.traits, moment),
                }
                for post in page
            ],
        }

    def _listed(self, query: Params, world: World, now_ms: int) -> list[Post]:
        pages = self._x.pages
        if author_id := query.get("author"):
            return pages.of_author(world.number_of[int(author_id)], world, now_ms=now_ms)
        if author_id := query.get("mentions"):
            return pages.mentioning(world.number_of[int(author_id)], world, now_ms=now_ms)
        if list_id := query.get("list"):
            return pages.of_list(world.lists[int(list_id)], world, now_ms=now_ms)
        if rule_id := query.get("rule"):
            rules = self._x.streams.rules
            rule = rules.find(rule_id)
            matching = pages.ruled(rules.query(rule, world), world, now_ms=now_ms)
            return [post for post in matching if rule.acts_at(post.visible_ms)]
        if text := query.get("query"):
            try:
                return pages.searched(pages.query(text, world), world, world.moment(now_ms))
            except Invalid as invalid:
                raise ValueError(invalid.complaints[0][2]) from invalid
        return self._x.feeds.all(world, now_ms=now_ms)

    def _show_lists(self, _rest: str, _query: Params, _body: Body) -> Any:
        return {
            "lists": [
                {"id": str(list_id), "members": [str(member) for member in sorted(members)]}
                for list_id, members in sorted(self._x.world.lists.items())
            ]
        }

    def _set_list(self, rest: str, query: Params, body: Body) -> Any:
        members = frozenset(int(member) for member in body["members"])
        if strangers := members - self._x.world.people_by_id.keys():
            raise LookupError(", ".join(map(str, sorted(strangers))))
        self._x.replace_world(self._x.world.with_lists({int(rest): members}))
        return self._show_lists(rest, query, body)

    def _clear_lists(self, rest: str, query: Params, body: Body) -> Any:
        world = self._x.world
        gone = [int(rest)] if rest else list(world.lists)
        self._x.replace_world(world.with_lists(dict.fromkeys(gone)))
        return self._show_lists(rest, query, body)


def read_flow(body: Mapping[str, Any], world: World, *, number: int, now_ms: int) -> Flow:
    """A flow as `POST /_fake/posts` describes it; ValueError or LookupError when it is invalid."""
    if unknown := set(body) - _FLOW:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
    authors = _authors(body.get("authors"), world)
    rate = float(body["rate_each"]) * len(authors) if "rate_each" in body else body.get("rate", 1)
    micro_rate, count = round(float(rate) * 1e6), int(body.get("count", _FLOW_LENGTH))
    if not 0 < micro_rate <= MOST_A_SECOND * 1_000_000:
        raise ValueError(f"rate is 0.000001 to {MOST_A_SECOND} a second")
    if not 1 <= count <= MOST_POSTS:
        raise ValueError(f"count is 1 to {MOST_POSTS}")
    return Flow(
        number=number,
        seed=int(body.get("seed", world.seed * MOST_FLOWS + number)),
        set_ms=now_ms,
        from_ms=now_ms + round(1000 * float(body.get("starts_in_s", 0))),
        micro_rate=micro_rate,
        count=count,
        authors=authors,
        lag=_lag(body.get("lag") or {}),
        tags=tuple(str(tag).removeprefix("#") for tag in body.get("tags", ())),
        **{name: _share(name, body[name]) for name in _SHARES.intersection(body)},
    )


def _authors(names: Any, world: World) -> tuple[int, ...]:
    """The ids given; or this many, or all, of the authors who never hide."""
    if isinstance(names, list):
        numbers = tuple(world.number_of[int(author_id)] for author_id in names)
    else:
        never = (number for number, author in enumerate(world.people) if not author.troubled)
        numbers = tuple(islice(never, None if names is None else int(names)))
    if not numbers:
        raise ValueError("authors are a list of ids or a number of 1 or more")
    return numbers


def _lag(body: Mapping[str, Any]) -> Lag:
    if unknown := set(body) - _LAG:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(sorted(_LAG))}")
    lag: dict[str, Any] = {}
    for name, value in body.items():
        if name.endswith("_share"):
            lag[name] = _share(name, value)
        elif name == "usual_ms":
            lag[name] = float(value)
        else:
            least, most = (int(bound) for bound in value)
            lag[name] = (least, most)
            if not 0 <= least <= most:
                raise ValueError(f"{name} is [least, most]")
    return Lag(**lag)


def _share(name: str, value: Any) -> float:
    share = float(value)
    if not 0 <= share <= 1:
        raise ValueError(f"{name} is 0 to 1")
    return share
