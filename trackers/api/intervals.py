"""Intervals in the API: read, see what a change would cost, replace the list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from ninja import Header, Router, Schema
from pydantic import BeforeValidator, Field, StrictBool, StrictFloat, StrictInt, WithJsonSchema

from trackers.api.wire.auth import Bearer, actor_of, require_permission
from trackers.api.wire.fields import LengthOut
from trackers.api.wire.responses import etag_of
from trackers.forecasts.cost_words import Estimate, row_of_interval
from trackers.forecasts.replace import Unconfirmed, replan_all, set_intervals, weigh_cost
from trackers.schedule.durations import parse
from trackers.schedule.models import Interval
from trackers.schedule.validate import (
    DEFAULT_JITTER,
    MAX_ACCURACY,
    MAX_JITTER,
    MIN_ACCURACY,
    IntervalRow,
)
from trackers.tokens.models import ADMIN_SCOPE, READ_SCOPE
from tweetwatch.http.etags import is_among
from tweetwatch.http.json_bodies import Strict
from tweetwatch.http.refusals import Refused

router = Router(tags=["intervals"], auth=Bearer(changes=ADMIN_SCOPE))
_MAX_INTERVALS = 100
_CHANGED_MEANWHILE = (
    "The intervals have changed since you read them: read them again, then replace them."
)
_ACCURACY_MISSING = (
    "Some current intervals adapt, but this list does not say which of its own do: give each an "
    "accuracy, null for a fixed interval."
)
_HOW_TO_CONFIRM = "Send it with confirm: true."
_EMPTY_LIST = "An empty list would stop all look-ups. Pause the queue tweet:update instead."


def _parse_length(value: Any) -> timedelta:
    if not isinstance(value, str):
        raise ValueError("a duration is text, such as 60s, 18m, 1h or 7d")
    return parse(value[:100])


Length = Annotated[
    timedelta,
    BeforeValidator(_parse_length),
    WithJsonSchema({"type": "string", "examples": ["18m"]}, mode="validation"),
]
JitterShare = Annotated[StrictFloat | StrictInt, Field(ge=0, le=MAX_JITTER)]
Accuracy = Annotated[StrictFloat | StrictInt, Field(ge=MIN_ACCURACY, le=MAX_ACCURACY)]


class IntervalIn(Strict):
    """Tweets younger than `younger_than`, and in no younger row, are looked up `every` so
    often. With an `accuracy` (0.05 is 5%) the row adapts instead: at most every `at_most`, at
    least every `at_least`; `every` applies again when it is removed. While any current row
    adapts, each row of a new list must have an `accuracy`, or null."""

    younger_than: Length
    every: Length
    jitter: JitterShare = DEFAULT_JITTER
    enabled: StrictBool = True
    accuracy: Accuracy | None = None
    at_most: Length | None = None
    at_least: Length | None = None

    def row(self) -> IntervalRow:
        return IntervalRow(
            self.younger_than,
            self.every,
            float(self.jitter),
            self.enabled,
            None if self.accuracy is None else float(self.accuracy),
            self.at_most,
            self.at_least,
        )


class IntervalsIn(Strict):
    """The whole list, youngest first. With `replan`, look-ups already scheduled move too; otherwise
    they keep their times. `confirm`: a list that asks X for more than twice as much is meant."""

    intervals: Annotated[list[IntervalIn], Field(max_length=_MAX_INTERVALS)]
    replan: StrictBool = False
    confirm: StrictBool = False

    @property
    def say_what_adapts(self) -> bool:
        """A program from before rows adapted says nothing of it."""
        return all("accuracy" in one.model_fields_set for one in self.intervals)


class IntervalOut(Schema):
    younger_than: LengthOut
    every: LengthOut
    jitter: float
    enabled: bool
    accuracy: float | None
    at_most: LengthOut | None
    at_least: LengthOut | None


class IntervalsOut(Schema):
    intervals: list[IntervalOut]


class CostOut(Schema):
    """`life`: look-ups of one tweet in all. The others are tomorrow's, as if X's rate limits and
    the budgets had room for all, with as many new posts as of late; `money` in US dollars. X bills
    a tweet once a day."""

    life: float
    lookups: float
    tweet_days: float
    money: float


class PreviewOut(Schema):
    """`times`: how many times as many look-ups; `is_large`: more than twice."""

    before: CostOut
    after: CostOut
    times: float
    is_large: bool


@router.get("", response=IntervalsOut)
def list_intervals(request: HttpRequest) -> dict[str, Any]:
    """Send its `ETag` as `If-Match` to replace them."""
    require_permission(request, "trackers.view_interval")
    return _intervals_json(Interval.objects.all())


@router.post("/preview", response=PreviewOut, auth=Bearer(changes=READ_SCOPE))
def preview_intervals(request: HttpRequest, body: IntervalsIn) -> dict[str, Any]:
    """What this list would cost, compared with the current one. Changes nothing."""
    require_permission(request, "trackers.view_interval")
    try:
        return _preview_json(weigh_cost(_interval_rows(body), is_confirmed=True))
    except ValidationError as error:
        raise _intervals_refusal(error.messages) from None


def _preview_json(costs: Estimate) -> dict[str, Any]:
    change = costs.change
    return {
        "before": asdict(change.before),
        "after": asdict(change.after),
        "times": change.times,
        "is_large": change.is_large,
    }


@router.put("", response=IntervalsOut)
def replace_intervals(
    request: HttpRequest,
    body: IntervalsIn,
    if_match: Annotated[str, Header(alias="If-Match")] = "",
) -> dict[str, Any]:
    """All or nothing. With `If-Match`, 412 if somebody has changed them since. 422 if current rows
    adapt, and this list does not say whether its own do. 409, with the `preview` of its cost, if it
    asks X for more than twice as much, and is sent without `confirm`."""
    actor = actor_of(request, "trackers.change_interval")
    rows = _interval_rows(body)

    def differ(present: list[Interval]) -> bool:
        tag = etag_of(IntervalsOut, _intervals_json(present))
        if if_match and not is_among(if_match, tag):
            return True
        if any(interval.accuracy is not None for interval in present) and not body.say_what_adapts:
            raise Refused(422, _ACCURACY_MISSING)
        return False

    try:
        done = set_intervals(rows, actor, is_confirmed=body.confirm, unless=differ)
    except ValidationError as error:
        raise _intervals_refusal(error.messages) from None
    except Unconfirmed as asks:
        seen = PreviewOut.model_validate(_preview_json(asks.estimate)).model_dump()
        raise Refused(409, f"{asks} {_HOW_TO_CONFIRM}", preview=seen) from None
    if not done.is_done:
        raise Refused(412, _CHANGED_MEANWHILE)
    if body.replan:
        replan_all(actor)
    return _intervals_json(Interval.objects.all())


def _interval_rows(body: IntervalsIn) -> list[IntervalRow]:
    if not body.intervals:
        raise _intervals_refusal([_EMPTY_LIST])
    return [interval.row() for interval in body.intervals]


def _intervals_refusal(faults: list[str]) -> Refused:
    """Each says which row it is about."""
    errors = [{"field": "intervals", "detail": fault} for fault in faults]
    return Refused(422, faults[0], errors=errors)


def _intervals_json(intervals: Iterable[Interval]) -> dict[str, Any]:
    return {"intervals": [asdict(row_of_interval(interval)) for interval in intervals]}
