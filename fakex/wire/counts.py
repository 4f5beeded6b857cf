"""Requests for counts of posts, and their bodies: so many a minute, an hour or a day.

By OpenAPI 2.166 and 2.167 (2026-08-22) and x-api/posts/counts (xdevplatform/docs): recent ones come
in one reply, those of the archive in pages of 30 days, the newest first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote_plus

import orjson

from fakex.endpoints import ALL_COUNTS
from fakex.wire.escapes import v2_time
from fakex.wire.requests_pages import read_id, read_time
from fakex.wire.requests_v2 import Complaint, Invalid
from fakex.world.ids import DAY, HOUR, MINUTE

_LONG_MS = {"minute": MINUTE, "hour": HOUR, "day": DAY}
_PAGE_MS = 30 * DAY
_COUNT_FIELDS = ("end", "start", "tweet_count", "post_count")
_KNOWN = (
    "query",
    "start_time",
    "end_time",
    "since_id",
    "until_id",
    "next_token",
    "pagination_token",
    "granularity",
    "search_count.fields",
)


@dataclass(frozen=True, slots=True)
class CountsAsk:
    """One page of counts."""

    endpoint: str
    subject: str  # the query
    long_ms: int
    since_id: int | None = None  # exclusive
    until_id: int | None = None  # exclusive
    start_ms: int | None = None  # epoch ms, as the next
    end_ms: int | None = None
    token: str | None = None
    ids: list[str] = field(default_factory=list)  # empty: nothing is requested by id


def read_counts(endpoint: str, query: str) -> CountsAsk:
    """The counts asked for; raises Invalid with all complaints."""
    params: dict[str, str] = {}
    complaints: list[Complaint] = []
    for part in filter(None, query.split("&")):
        name, _, value = part.partition("=")
        params[unquote_plus(name)] = unquote_plus(value)
    for name in sorted(params.keys() - set(_KNOWN)):
        message = f"The query parameter [{name}] is not one of [{','.join(_KNOWN)}]"
        complaints.append((name, [params[name]], message))
    if not params.get("query", "").strip():
        complaints.append(("query", [], "The `query` query parameter can not be empty"))
    granularity = params.get("granularity", "hour")
    _complain("granularity", [granularity], tuple(_LONG_MS), complaints)
    fields = [name for name in params.get("search_count.fields", "").split(",") if name]
    _complain("search_count.fields", fields, _COUNT_FIELDS, complaints)
    ask = CountsAsk(
        endpoint=endpoint,
        subject=params.get("query", ""),
        long_ms=_LONG_MS.get(granularity, HOUR),
        since_id=read_id("since_id", params, complaints),
        until_id=read_id("until_id", params, complaints),
        start_ms=read_time("start_time", params, complaints),
        end_ms=read_time("end_time", params, complaints),
        token=params.get("pagination_token") or params.get("next_token") or None,
    )
    if complaints:
        raise Invalid(complaints)
    return ask


def _complain(
    name: str, values: Iterable[str], known: tuple[str, ...], complaints: list[Complaint]
) -> None:
    for value in values:
        if value not in known:
            message = f"The `{name}` query parameter value [{value}] is not one of "
            complaints.append((name, [value], f"{message}[{','.join(known)}]"))


def page_begins(ask: CountsAsk, from_ms: int, until_ms: int) -> int:
    """Where the page begins that ends at `until_ms`."""
    return max(from_ms, until_ms - _PAGE_MS) if ask.endpoint == ALL_COUNTS else from_ms


def counts_body(
    ask: CountsAsk,
    born_ms: Iterable[int],
    *,
    from_ms: int,
    until_ms: int,
    next_token: str | None,
    word: str,
) -> bytes:
    """Counts of posts born from `from_ms` until `until_ms`: whole spans but for the two at the
    ends. `word` is what a post is called, "tweet" or "post"."""
    long_ms = ask.long_ms
    counts = Counter(at_ms // long_ms for at_ms in born_ms)
    spans = range(from_ms // long_ms, -(-until_ms // long_ms))
    data = [
        {
            "end": v2_time(min(until_ms, (span + 1) * long_ms)),
            "start": v2_time(max(from_ms, span * long_ms)),
            f"{word}_count": counts[span],
        }
        for span in spans
    ]
    meta: dict[str, object] = {f"total_{word}_count": counts.total()}
    if next_token:
        meta["next_token"] = next_token
    return orjson.dumps({"data": data, "meta": meta})
