"""The /_fake/ routes, through which tests and the demo control and read the fake over HTTP.

Unknown routes are 404, unreadable or unknown settings are 400 with {"error": "..."}.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, fields, replace
from typing import Any
from urllib.parse import parse_qsl

import orjson
from aiohttp import web

from fakex.account.billing import DAY_MS, day_name
from fakex.control.accounts import Accounts
from fakex.control.acts import Act, Body, Params
from fakex.control.contents import ContentActs
from fakex.control.idling import Idling
from fakex.control.overrides import read_override
from fakex.control.people import People
from fakex.control.posts import Appearing
from fakex.control.stream import StreamControl
from fakex.log import answer_json
from fakex.settings import Settings
from fakex.world.clock import real_ms
from fakex.world.seeded import Nature
from fakex.x import X

_IDS_A_CHUNK = 10_000
_LARGEST_BODY = 64 << 20
_NATURE = {field.name for field in fields(Nature)}
# `keep` is for the command line only: existing writers would not notice a change.
_ELSEWHERE = {"keep", "latency_ms", "token_latency_ms", "allow_fake_now"}
_SETTINGS = {field.name for field in fields(Settings)} - _ELSEWHERE
_CHOICES = {
    "depleted": ("credits", "credits-depleted"),
    "usage_numbers": ("strings", "ints"),
    "vocabulary": ("both", "tweet.fields", "post.fields"),
    "old_versions": ("newest", "own"),
}
_CLOCK = {"clock_speed", "ahead_s", "billing_offset_s", "allow_fake_now"}


class Control:
    def __init__(self, x: X) -> None:
        self._x = x
        self._acts: dict[tuple[str, str], Act] = {
            ("GET", "clock"): self._show_clock,
            ("PUT", "clock"): self._set_clock,
            ("GET", "world"): self._show_world,
            ("PUT", "world"): self._set_world,
            ("GET", "tweets"): self._show_tweet,
            ("PUT", "tweets"): self._override_tweets,
            ("DELETE", "tweets"): self._lift_tweets,
            ("GET", "limits"): self._show_limits,
            ("PUT", "limits"): self._set_limits,
            ("DELETE", "limits"): self._reopen_windows,
            ("GET", "latency"): self._show_latency,
            ("PUT", "latency"): self._set_latency,
            ("GET", "faults"): self._show_faults,
            ("PUT", "faults"): self._set_faults,
            ("DELETE", "faults"): self._clear_faults,
            ("PUT", "log"): self._set_log,
            ("DELETE", "log"): self._clear_log,
            ("GET", "totals"): self._show_totals,
            **Accounts(x).acts,
            **People(x).acts,
            **Appearing(x).acts,
            **ContentActs(x).acts,
            **StreamControl(x).acts,
            **Idling(x).acts,
        }

    async def handle(self, http: web.BaseRequest, path: str, query: str) -> web.StreamResponse:
        subject, _, rest = path.removeprefix("/_fake/").partition("/")
        params = dict(parse_qsl(query))
        act = self._acts.get((http.method, subject))
        try:
            if (http.method, subject) == ("GET", "ids"):
                return await self._stream_ids(http, params)
            if (http.method, subject) == ("GET", "log"):
                return await self._show_log(params)
            if act is None:
                return _json({"error": f"no {http.method} /_fake/{subject}"}, 404)
            text = await _read(http)
            return _json(act(rest, params, orjson.loads(text) if text else {}))
        except LookupError as error:
            return _json({"error": f"missing or unknown: {error}"}, 400)
        except (ValueError, TypeError) as error:
            return _json({"error": str(error)}, 400)

    def _show_clock(self, _rest: str, _query: Params, _body: Body) -> Any:
        x, now_ms = self._x, self._x.now_ms()
        return {
            **x.world.clock.to_dict(now_ms),
            "billing_offset_s": x.ledger.offset_ms / 1000,
            "billing_day": day_name(x.ledger.at(now_ms) // DAY_MS),
            "allow_fake_now": x.settings.allow_fake_now,
        }

    def _set_clock(self, rest: str, query: Params, body: Body) -> Any:
        if not body or (unknown := set(body) - _CLOCK):
            raise ValueError(f"unknown: {', '.join(sorted(unknown)) if body else 'nothing given'}")
        x, speed = self._x, float(body.get("clock_speed", self._x.world.clock.speed))
        offset_s = float(body.get("billing_offset_s", x.ledger.offset_ms / 1000))
        ahead_ms = round(1000 * float(body.get("ahead_s", x.world.clock.ahead_ms / 1000)))
        if not speed > 0:
            raise ValueError("clock_speed must be above 0")
        x.world.clock.ahead_ms = ahead_ms
        if "clock_speed" in body:
            x.world.clock.change(speed, now_ms=x.now_ms())
        x.ledger.offset_ms = round(1000 * offset_s)
        x.settings.allow_fake_now = bool(body.get("allow_fake_now", x.settings.allow_fake_now))
        return self._show_clock(rest, query, body)

    def _show_world(self, _rest: str, _query: Params, _body: Body) -> Any:
        world, settings = self._x.world, asdict(self._x.settings)
        return {
            "seed": world.seed,
            "tweets": world.ids.tweets,
            "tweets_per_ms": world.ids.per_ms,
            "start_ms": world.clock.start_ms,
            "overridden_tweets": len(world.tweets),
            "settings": {**asdict(world.nature), **settings},
        }

    def _set_world(self, rest: str, query: Params, body: Body) -> Any:
        if unknown := set(body) - _NATURE - _SETTINGS:
            raise ValueError(f"unknown settings: {', '.join(sorted(unknown))}")
        if body.get("engagement", "natural") not in ("natural", "busy"):
            raise ValueError("engagement is natural or busy")
        x = self._x
        if "authors" in body and (x.world.lists or x.world.flows.flows):
            raise ValueError("there are lists or posts of the authors: forget these first")
        nature = {n: type(getattr(Nature(), n))(body[n]) for n in _NATURE.intersection(body)}
        if nature:
            x.replace_world(replace(x.world, nature=replace(x.world.nature, **nature)))
        for name in _SETTINGS.intersection(body):
            if name in _CHOICES and body[name] not in _CHOICES[name]:
                raise ValueError(f"{name} is one of {', '.join(_CHOICES[name])}")
            setattr(x.settings, name, _kind_of(name)(body[name]))
        x.credentials.canonical_base = x.settings.canonical_base
        return self._show_world(rest, query, body)

    def _show_tweet(self, rest: str, query: Params, _body: Body) -> Any:
        world = self._x.world
        at_ms = int(query.get("at_ms", self._x.now_ms()))
        tweet, moment = world.traits(int(rest)), world.moment(at_ms)
        if tweet is None:
            return {"id": rest, "exists": False, "at_ms": at_ms, "answer": "not_found"}
        override = world.tweets.get(tweet.id)
        return {
            "id": rest,
            "exists": tweet.born_ms <= at_ms,
            "visible_at_ms": world.visible_ms(tweet.id) or tweet.born_ms,
            "at_ms": at_ms,
            "age_ms": world.age_ms(tweet, moment),
            "state": world.state(tweet, moment),
            "answer": answer_json(world, rest, at_ms),
            "author_id": str(world.people[tweet.author].id),
            "override": asdict(override) if override else None,
            "traits": tweet._asdict(),
        }

    def _override_tweets(self, rest: str, _query: Params, body: Body) -> Any:
        overrides = {rest: body} if rest else body
        changes = {int(text): read_override(override) for text, override in overrides.items()}
        self._x.replace_world(self._x.world.with_tweets(changes))
        return {"overridden": len(changes)}

    def _lift_tweets(self, rest: str, _query: Params, _body: Body) -> Any:
        world = self._x.world
        lifted = [int(rest)] if rest else list(world.tweets)
        self._x.replace_world(world.with_tweets(dict.fromkeys(lifted)))
        return {"lifted": len(lifted)}

    def _show_limits(self, _rest: str, _query: Params, _body: Body) -> Any:
        return {endpoint: asdict(limit) for endpoint, limit in self._x.windows.limits.items()}

    def _set_limits(self, rest: str, query: Params, body: Body) -> Any:
        self._x.windows.limit(body)
        return self._show_limits(rest, query, body)

    def _reopen_windows(self, _rest: str, _query: Params, _body: Body) -> Any:
        self._x.windows.close_all()
        return {}

    def _show_latency(self, _rest: str, _query: Params, _body: Body) -> Any:
        settings = self._x.settings
        return {"ms": settings.latency_ms, "token_ms": settings.token_latency_ms}

    def _set_latency(self, rest: str, query: Params, body: Body) -> Any:
        settings = self._x.settings
        settings.latency_ms = float(body["ms"])
        settings.token_latency_ms = float(body.get("token_ms", settings.token_latency_ms))
        return self._show_latency(rest, query, body)

    def _show_faults(self, _rest: str, _query: Params, _body: Body) -> Any:
        return {"rules": [rule.to_dict() for rule in self._x.script.rules]}

    def _set_faults(self, rest: str, query: Params, body: Body) -> Any:
        self._x.script.replace(body, now_ms=real_ms())
        return self._show_faults(rest, query, body)

    def _clear_faults(self, _rest: str, _query: Params, _body: Body) -> Any:
        self._x.script.rules = []
        return {"rules": []}

    def _set_log(self, _rest: str, _query: Params, body: Body) -> Any:
        if body["detail"] not in ("full", "counts"):
            raise ValueError("detail is full or counts")
        self._x.log.detail = body["detail"]
        return {"detail": body["detail"]}

    def _clear_log(self, _rest: str, _query: Params, _body: Body) -> Any:
        self._x.log.clear()
        return {}

    def _show_totals(self, _rest: str, _query: Params, _body: Body) -> Any:
        return {**self._x.log.totals.to_dict(), "billed": self._x.ledger.totals()}

    async def _show_log(self, query: Params) -> web.Response:
        """Entries above `since`; `next` is the `since` for the next read."""
        log, since = self._x.log, int(query.get("since", 0))
        page = log.find(since, int(query.get("limit", 10_000)))
        following = page[-1].seq if page else max(since, log.last)
        entries: list[dict[str, Any]] = []
        for entry in page:
            entries.append(entry.to_dict())
            # A thousand entries take a second to compute; others must get answers meanwhile.
            await asyncio.sleep(0)
        return _json({"next": following, "first": log.first, "entries": entries})

    async def _stream_ids(self, http: web.BaseRequest, query: Params) -> web.StreamResponse:
        """Ids offset..offset+limit of the world's N: JSON, or text with one id a line."""
        ids = self._x.world.ids
        offset = int(query.get("offset", 0))
        end = min(ids.tweets, offset + int(query.get("limit", ids.tweets)))
        if query.get("format", "json") == "json":
            return _json({"total": ids.tweets, "ids": list(map(str, ids.between(offset, end)))})
        response = web.StreamResponse(headers={"content-type": "text/plain"})
        await response.prepare(http)
        for first in range(offset, end, _IDS_A_CHUNK):
            lines = map(str, ids.between(first, min(end, first + _IDS_A_CHUNK)))
            await response.write(("\n".join(lines) + "\n").encode())
        await response.write_eof()
        return response


async def _read(http: web.BaseRequest) -> bytes:
    # The server's limit on bodies is for X's requests; a list of overrides may be long.
    return await http.clone(client_max_size=_LARGEST_BODY).read() if http.can_read_body else b""


def _kind_of(name: str) -> type:
    """The type of a setting, taken from its default value."""
    return type(getattr(Settings(), name))


def _json(body: Any, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json")
