"""Outgoing replies, with X's headers."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

import orjson
from aiohttp import web
from multidict import CIMultiDict

from fakex.account.billing import Bill, Short
from fakex.account.windows import Budget, Scope
from fakex.wire import problems
from fakex.wire.problems import Problem
from fakex.world.seeded import FaultAnswer

_JSON, _PROBLEM_JSON = "application/json; charset=utf-8", "application/problem+json"
_GZIP_ABOVE = 200

_HEADERS = CIMultiDict(
    {
        "api-version": "2.167",
        "cache-control": "no-cache, no-store, max-age=0",
        "content-disposition": "attachment; filename=json.json",
        "server": "cloudflare envoy",
        "strict-transport-security": "max-age=631138519",
        "x-access-level": "read",
        "x-content-type-options": "nosniff",
        "x-frame-options": "SAMEORIGIN",
        "x-xss-protection": "0",
    }
)
_transactions = count(0x5EED_0000_0000_0001, 0x9E37_79B9_7F4A)


@dataclass(slots=True)
class Reply:
    status: int
    body: bytes
    content_type: str = _JSON
    budget: Budget | None = None
    # True when the body says something about every id that is not in `faulted`.
    answered: bool = False
    tweets: int = 0
    faulted: Mapping[str, FaultAnswer] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    bill: Bill | None = None
    refused_for: Scope | Short | None = None  # the full window (its scope), "cap" or "credits"
    shown: Sequence[int] = ()  # the posts of a page
    fault: str | None = None  # the faults of single ones
    # Send each rate header twice, as if each of two machines on the way had added it.
    twice: bool = False


def single(body: bytes) -> bytes:
    """The body for one thing, from that for a list of one."""
    whole = orjson.loads(body)
    if whole.get("data"):
        whole["data"] = whole["data"][0]
    for error in whole.get("errors", ()):
        if error.get("parameter") == "ids":
            error |= {"parameter": "id", "detail": error["detail"].replace("ids:", "id:")}
    return orjson.dumps(whole)


def problem(status: int, body: Problem) -> Reply:
    return Reply(status, orjson.dumps(body), _PROBLEM_JSON)


def v1_problem(status: int, code: int) -> Reply:
    return Reply(status, problems.v1_error(code))


def headers_of(reply: Reply, *, took_ms: int) -> CIMultiDict[str]:
    headers = _HEADERS.copy()
    headers["content-type"] = reply.content_type
    headers["x-response-time"] = str(took_ms)
    headers["x-transaction-id"] = f"{next(_transactions) & 0xFFFF_FFFF_FFFF_FFFF:016x}"
    if budget := reply.budget:
        headers["x-rate-limit-limit"] = str(budget.limit)
        headers["x-rate-limit-remaining"] = str(budget.remaining)
        headers["x-rate-limit-reset"] = str(budget.reset_s)
        for scope, day in budget.days.items():
            headers[f"x-{scope}-limit-24hour-limit"] = str(day.limit)
            headers[f"x-{scope}-limit-24hour-remaining"] = str(day.remaining)
            headers[f"x-{scope}-limit-24hour-reset"] = str(day.reset_s)
    if reply.twice:
        headers.extend([one for one in headers.items() if one[0].startswith("x-rate-limit-")])
    if reply.headers:
        headers.update(reply.headers)
    return headers


def to_response(reply: Reply, *, took_ms: int, zipped: bool) -> web.Response:
    headers = headers_of(reply, took_ms=took_ms)
    body = reply.body
    if zipped and len(body) > _GZIP_ABOVE:
        body = gzip.compress(body, compresslevel=1)
        headers["content-encoding"] = "gzip"
    return web.Response(body=body, status=reply.status, headers=headers)
