"""The bodies of requests about subscribers, and of the answers."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from ninja import Schema
from pydantic import AfterValidator, AwareDatetime, Field, StrictBool, StrictInt, StrictStr

from trackers.api.wire.fields import DigitsOut, Id, TimeOut
from trackers.events.subscribers import terms
from trackers.events.subscribers.rules import MOST_FILTERED, MOST_TOPICS
from trackers.events.subscribers.terms import Terms
from tweetwatch.http.json_bodies import Strict

Names = Annotated[list[StrictStr], Field(max_length=MOST_TOPICS)]
Ids = Annotated[list[Id], Field(max_length=MOST_FILTERED)]


def _check_at_least(text: str) -> str:
    if text:
        terms.at_least_of(text)
    return text


AtLeast = Annotated[StrictStr, AfterValidator(_check_at_least)]
# Null removes the limit or the figure; for other fields null means absent.
_NULLABLE = ("rate", "at_least")


class Change(Strict):
    """Absent fields keep their values, or get the defaults."""

    callback: StrictStr | None = None
    topics: Names | None = None
    max_events: StrictInt | None = None
    timeout_ms: StrictInt | None = None
    ordered: StrictBool | None = None
    concurrency: StrictInt | None = None
    rate: StrictInt | None = None
    format: StrictStr | None = None
    with_data: StrictBool | None = None
    each_change: StrictBool | None = None
    authors: Ids | None = None
    sources: Ids | None = None
    at_least: AtLeast | None = None
    headers: dict[StrictStr, StrictStr | None] | None = Field(default=None, repr=False)
    uuid: StrictStr | None = Field(default=None, repr=False)

    def terms(self) -> Terms:
        sent = {
            name: value
            for name in self.model_fields_set
            if (value := getattr(self, name)) is not None or name in _NULLABLE
        }
        return terms.named_terms(sent)


class New(Change):
    name: StrictStr
    callback: StrictStr
    topics: Names


class Time(Strict):
    since: AwareDatetime
    until: AwareDatetime | None = None
    dry_run: StrictBool = False


class BatchIn(Strict):
    batch: UUID


class SubscriberOut(Schema):
    """`state`: `waiting` means that nothing is sent before `next_at`, because deliveries
    failed; if it is `disabled`, `reason` says why. `headers`: only their names."""

    name: str
    callback: str
    topics: list[str]
    max_events: int
    timeout_ms: int
    ordered: bool
    concurrency: int
    rate: int | None
    format: str
    with_data: bool
    each_change: bool
    authors: list[DigitsOut]
    sources: list[DigitsOut]
    at_least: str | None
    headers: list[str]
    state: Literal["ready", "waiting", "paused", "disabled"]
    reason: str
    next_at: TimeOut | None
    health: int
    added: int
    delivered: int
    dropped: int
    queued: int
    batches: int
    oldest: TimeOut | None


class SubscribersOut(Schema):
    subscribers: list[SubscriberOut]


class AddedOut(SubscriberOut):
    signing_secret: str


class SecretOut(Schema):
    signing_secret: str


class DroppedOut(Schema):
    dropped: int


class EventsOut(Schema):
    events: int


class BatchOut(Schema):
    """`batch`: its webhook-id. `response`: the first kilobyte of what it was refused with."""

    batch: UUID
    kind: Literal["events", "test", "redelivery"]
    state: Literal["early", "ready", "pending", "set aside"]
    events: int
    oldest: TimeOut
    attempts: int
    status: int | None
    error: str
    response: str


class BatchesOut(Schema):
    set_aside: list[BatchOut]
    waiting: list[BatchOut]


class AttemptOut(Schema):
    """`batch`: its webhook-id. `response`: its first kilobyte."""

    at: str
    batch: UUID
    kind: Literal["events", "test", "redelivery"]
    number: int
    outcome: Literal["delivered", "failed", "throttled", "lost", "late"]
    events: int
    status: int | None
    took_ms: int | None
    error: str
    response: str


class AttemptsOut(Schema):
    attempts: list[AttemptOut]
    next: DigitsOut | None
