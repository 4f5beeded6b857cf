"""Sources in the API: list, read, add, change, pause, resume, poll now, remove."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Schema, Status
from pydantic import Field, StrictBool, StrictInt, StrictStr

from trackers.api.wire.auth import VIEW_SOURCES, acted, actor_of, require_permission
from trackers.api.wire.errors import refusal
from trackers.api.wire.fields import NO_CONTENT, DigitsOut, LengthOut, TimeOut, UnsignedId
from trackers.api.wire.parameters import cursor_of, position_of
from trackers.ingest.sources import acts, archive, by_form, counts
from trackers.ingest.sources.by_form import RefusedFieldsError
from trackers.ingest.sources.counts import posts_counted, requests_to_count
from trackers.ingest.sources.forms import cost, price_of_a_post
from trackers.ingest.sources.models import SearchCount, Source
from trackers.ingest.sources.status import SourceStatus, source_statuses
from trackers.xapi.endpoints import ARCHIVE_COUNTS
from tweetwatch.clock_times import iso
from tweetwatch.http.json_bodies import Strict
from tweetwatch.http.refusals import Refused

router = Router(tags=["sources"])
_MAX_SOURCES = 200
_HOW_TO_CONFIRM = "Send it again with confirm: true."

SourceKind = Literal["account", "mentions", "search", "list", "stream", "import"]
AddedSourceKind = Literal["account", "mentions", "search", "list", "stream"]
Priority = Literal["low", "normal", "high"]
Length = Annotated[StrictStr, Field(max_length=40, examples=["5m"])]


class SourceOut(Schema):
    """`state` and `reason` are as on its page. Durations look like 10m or 1d. The first poll reads
    `backfill` back; null: as far as X shows."""

    id: DigitsOut
    kind: SourceKind
    of: str
    name: str
    owner: str
    priority: Priority
    every: LengthOut
    pages: int
    backfill: LengthOut | None
    late_by: LengthOut | None
    exclude_replies: bool
    exclude_retweets: bool
    created_at: TimeOut
    paused_at: TimeOut | None
    state: str
    reason: str
    polled_at: TimeOut | None
    next_poll_at: TimeOut | None
    posts: int
    repeats: int
    leaks: int
    gaps_open: int
    gaps_lost: int
    cost: str


class SourcesOut(Schema):
    sources: list[SourceOut]
    next: str | None


class SettingsIn(Strict):
    """Absent: as it is, or the default. A length is written as 90s, 5m or 1h 30m; `backfill` may be
    `all`, and `late_by` empty for the kind's own."""

    owner: Annotated[StrictStr, Field(max_length=60)] | None = None
    priority: Priority | None = None
    every: Length | None = None
    pages: StrictInt | None = None
    backfill: Length | None = None
    late_by: Length | None = None
    exclude_replies: StrictBool | None = None
    exclude_retweets: StrictBool | None = None

    def fields(self) -> dict[str, Any]:
        """Those that were sent."""
        sent = {name: getattr(self, name) for name in self.model_fields_set}
        return {name: value for name, value in sent.items() if value is not None}


class SourceIn(SettingsIn):
    """`of`: an account such as @nasa, the link or number of an account or a list, a search, or a
    rule. Without `kind` a name, a hashtag or a link says by itself what it is."""

    kind: AddedSourceKind | None = None
    of: StrictStr

    def fields(self) -> dict[str, Any]:
        return {k: v for k, v in super().fields().items() if k not in ("kind", "of")}


class SourceChangeIn(SettingsIn):
    """With a different `of` the source starts over."""

    of: StrictStr | None = None


@router.get("", response=SourcesOut)
def list_sources(
    request: HttpRequest,
    kind: SourceKind | None = None,
    owner: str | None = None,
    limit: Annotated[int, Query(ge=1, le=_MAX_SOURCES)] = 50,
    cursor: str = "",
) -> dict[str, Any]:
    """Oldest first."""
    require_permission(request, VIEW_SOURCES)
    of = f"sources:{kind}:{owner}"
    rows = Source.objects.order_by("pk")
    if kind:
        rows = rows.filter(kind=kind)
    if owner is not None:
        rows = rows.filter(owner=owner)
    if position := position_of(cursor, of=of):
        rows = rows.filter(pk__gt=position)
    fetched = list(rows[: limit + 1])
    page = fetched[:limit]
    price, statuses = price_of_a_post(), source_statuses(page, now=timezone.now())
    return {
        "sources": [_source_json(status, price=price) for status in statuses],
        "next": cursor_of(page[-1].pk, of=of) if len(fetched) > limit else None,
    }


@router.post("", response={201: SourceOut})
def add_source(request: HttpRequest, body: SourceIn) -> Status:
    """It is polled at once. 422 if the same account, search, list or rule is already a source."""
    actor = actor_of(request, acts.ADD)
    try:
        source = by_form.add_source(body.kind, body.of, body.fields(), actor)
    except RefusedFieldsError as refused:
        raise refusal(refused.faults) from None
    return Status(201, _read_source_json(source.pk))


class ConfirmIn(Strict):
    confirm: StrictBool = False


class SearchIn(ConfirmIn):
    of: StrictStr


class SearchCountOut(Schema):
    """Posts that a search found in the seven days before, by X's own count. `by_hour`: from `since`
    on; the first and the last are parts of hours."""

    posts: int
    since: TimeOut
    until: TimeOut
    by_hour: list[int]
    counted_at: TimeOut
    money: str


# Before those whose {source} would take any word.
@router.post("/count", response=SearchCountOut)
def count_before(request: HttpRequest, body: SearchIn) -> dict[str, Any]:
    """As `/sources/{source}/count`, of a search that is no source yet. The count is remembered for
    a quarter of an hour, in which the call costs nothing, and kept if it is added by then."""
    actor = actor_of(request, acts.ADD)
    try:
        form = by_form.new_search(body.of)
    except RefusedFieldsError as refused:
        raise refusal(refused.faults) from None
    query = form.cleaned_data["of"]
    if not body.confirm and not counts.remembered_count(query):
        raise Refused(409, f"{acts.asks_to_count(form.instance)} {_HOW_TO_CONFIRM}")
    done = acts.count_before(form, actor)
    if (count := counts.remembered_count(query)) is None:
        raise Refused(409, done.message)
    return _count_json(count)


@router.get("/{source}", response=SourceOut)
def read_source(request: HttpRequest, source: UnsignedId) -> dict[str, Any]:
    require_permission(request, VIEW_SOURCES)
    return _read_source_json(source)


@router.patch("/{source}", response=SourceOut)
def change_source(request: HttpRequest, source: UnsignedId, body: SourceChangeIn) -> dict[str, Any]:
    """Absent fields keep their values."""
    actor = actor_of(request, acts.CHANGE)
    try:
        by_form.change(_find_source(source), body.fields(), actor)
    except RefusedFieldsError as refused:
        raise refusal(refused.faults) from None
    return _read_source_json(source)


@router.delete("/{source}", response=NO_CONTENT)
def remove_source(request: HttpRequest, source: UnsignedId) -> Status:
    """It is removed; its tweets stay tracked."""
    return acted(request, acts.ACTS["remove"], _find_source, source)


@router.post("/{source}/pause", response=NO_CONTENT)
def pause_source(request: HttpRequest, source: UnsignedId) -> Status:
    """It is not read until resumed. Idempotent, as is `resume`."""
    return acted(request, acts.ACTS["pause"], _find_source, source)


@router.post("/{source}/resume", response=NO_CONTENT)
def resume_source(request: HttpRequest, source: UnsignedId) -> Status:
    return acted(request, acts.ACTS["resume"], _find_source, source)


@router.post("/{source}/poll", response=NO_CONTENT)
def poll_source(request: HttpRequest, source: UnsignedId) -> Status:
    """Its next poll is due now; 409 if it is paused, or being polled."""
    return acted(request, acts.ACTS["poll"], _find_source, source, idempotent=False)


class LostCountOut(Schema):
    """Posts of all lost gaps, as far as X has counted them."""

    posts: int
    requests_left: int


@router.get("/{source}/count", response=SearchCountOut)
def read_count(request: HttpRequest, source: UnsignedId) -> dict[str, Any]:
    """The newest count of a search, as it was kept; 404 where X was never asked for one."""
    require_permission(request, VIEW_SOURCES)
    kept = SearchCount.objects.filter(source=_find_source(source)).first()
    if kept is None:
        raise LookupError("X was not asked to count it yet.")
    return _count_json(kept)


@router.post("/{source}/count", response=SearchCountOut)
def count_search(request: HttpRequest, source: UnsignedId, body: ConfirmIn) -> dict[str, Any]:
    """Have X count what a search finds in seven days, which X bills by the request: without
    `confirm`, 409 says what it costs. 409 also where X does not count."""
    act = acts.ACTS["count"]
    actor_of(request, act.permission)
    if not body.confirm:
        raise Refused(409, f"{acts.asks_to_count(_find_source(source))} {_HOW_TO_CONFIRM}")
    acted(request, act, _find_source, source, idempotent=False)
    return read_count(request, source)


@router.post("/{source}/full-archive", response=NO_CONTENT)
def search_archive(request: HttpRequest, source: UnsignedId, body: ConfirmIn) -> Status:
    """Have X's full archive searched for its lost gaps, where the plan includes that. X bills what
    it finds: without `confirm`, 409 says what that may cost. 409 also where there is nothing to
    search for, or X refused it."""
    act = acts.ACTS["full-archive"]
    actor_of(request, act.permission)
    found = _find_source(source)
    if not body.confirm and not archive.why_not(found):
        question = acts.asks_to_search_archive(found)
        raise Refused(409, f"{question} {_HOW_TO_CONFIRM}")
    return acted(request, act, _find_source, source, idempotent=False)


@router.post("/{source}/count-lost", response=LostCountOut)
def count_lost(request: HttpRequest, source: UnsignedId, body: ConfirmIn) -> dict[str, int]:
    """Have X count the posts of its lost gaps, where the plan includes that. X bills each request,
    of 30 days: without `confirm`, 409 says what it costs. At most twelve are made; the next call
    goes on. 409 also where there is nothing to count, or X does not."""
    act = acts.ACTS["count-lost"]
    actor_of(request, act.permission)
    found = _find_source(source)
    if not body.confirm and not archive.why_not(found, ARCHIVE_COUNTS):
        raise Refused(409, f"{acts.asks_to_count_lost(found)} {_HOW_TO_CONFIRM}")
    acted(request, act, _find_source, source, idempotent=False)
    return {"posts": posts_counted(found), "requests_left": requests_to_count(found)}


def _count_json(count: SearchCount) -> dict[str, Any]:
    return {
        "posts": count.posts,
        "since": iso(count.since),
        "until": iso(count.until),
        "by_hour": count.by_hour,
        "counted_at": iso(count.counted_at),
        "money": f"{count.money:.6f}",
    }


def _find_source(id: int) -> Source:
    source = Source.objects.filter(pk=id).first()
    if source is None:
        raise LookupError(f"There is no source {id}.")
    return source


def _read_source_json(id: int) -> dict[str, Any]:
    [status] = source_statuses([_find_source(id)], now=timezone.now())
    return _source_json(status, price=price_of_a_post())


def _source_json(status: SourceStatus, *, price: Decimal) -> dict[str, Any]:
    source = status.source
    same = (
        "kind", "of", "owner", "every", "pages", "backfill", "late_by", "exclude_replies",
        "exclude_retweets",
    )  # fmt: skip
    return {
        **{name: getattr(source, name) for name in same},
        "id": source.pk,
        "name": str(source),
        "priority": Source.Priority(source.priority).name.lower(),
        "created_at": iso(source.created_at),
        "paused_at": iso(source.paused_at),
        "state": status.state,
        "reason": status.reason,
        "polled_at": iso(source.polled_at),
        "next_poll_at": iso(status.next_poll_at),
        "posts": source.yielded,
        "repeats": source.again,
        "leaks": source.leaked,
        "gaps_open": status.gaps_open,
        "gaps_lost": status.gaps_lost,
        "cost": cost(source.kind, every=source.every, pages=source.pages, price=price),
    }
