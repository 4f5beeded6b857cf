"""What clients send, and what they are sent. A null field is the same as an absent one."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

import orjson
from django.conf import settings
from django.http import HttpRequest
from ninja import Schema
from pydantic import AfterValidator, BaseModel, Field, StrictInt, WithJsonSchema

from trackers.events.subscribers.rules import (
    MOST_CALLBACK,
    MOST_EVENT,
    MOST_EVENTS,
    MOST_TIMEOUT,
    MOST_TOPICS,
    TOPIC,
    UUID,
    fault_of,
)
from tweetwatch.http.json_bodies import Strict, StrictJson, UnreadableError

MAX_BODY_SIZE = 256 * 1024
_TOO_LARGE = f"The body is too large: at most {MAX_BODY_SIZE:,} bytes."
INCOMPLETE = "The body is incomplete. Send it again."
# The end of the year 9999.
_LAST_MS = 253_402_300_799_999


class BusJson(StrictJson):
    def parse_body(self, request: HttpRequest) -> Any:
        if len(request.body) > MAX_BODY_SIZE:
            raise UnreadableError(_TOO_LARGE)
        # A client that went away may have sent part of a body that happens to be valid.
        if len(request.body) < int(request.META.get("CONTENT_LENGTH") or 0):
            raise UnreadableError(INCOMPLETE)
        return super().parse_body(request)


def _check_address(value: str, *, most: int) -> str:
    if fault := fault_of(value, most=most, plain_http=settings.EGRESS_PLAIN_HTTP):
        raise ValueError(f"it {fault}")
    return value


def _check_data_size(data: dict[str, Any]) -> dict[str, Any]:
    try:
        size = len(orjson.dumps(data))
    except TypeError:
        raise ValueError("it is nested too deeply") from None
    if size > settings.BUS_DATA_MOST:
        raise ValueError(
            f"it is too large: {size:,} bytes of JSON, and at most {settings.BUS_DATA_MOST:,} "
            "are allowed"
        )
    return data


# Python's words for the beginning and the end of a text mean nothing to JSON Schema.
TopicName = Annotated[str, Field(pattern=f"^{TOPIC.pattern[2:-2]}$")]
UserName = Annotated[str, Field(pattern=f"^{UUID.pattern[2:-2]}$")]
# What each address has; not everything that has it is one.
_ADDRESS_SCHEMA = {"type": "string", "pattern": r"^https?://[A-Za-z0-9._~:/#\[\]!$&'()*+,;=%-]+$"}
EventUrl = Annotated[
    str,
    AfterValidator(partial(_check_address, most=MOST_EVENT)),
    WithJsonSchema({**_ADDRESS_SCHEMA, "maxLength": MOST_EVENT}),
]
Callback = Annotated[
    str,
    AfterValidator(partial(_check_address, most=MOST_CALLBACK)),
    WithJsonSchema({**_ADDRESS_SCHEMA, "maxLength": MOST_CALLBACK}),
]


# Not ninja's Schema, which looks through whatever it gets for what an ORM's row would have.
class PublicationIn(BaseModel):
    """`timestamp`: milliseconds since 1970; null means now."""

    type: Literal["create", "update", "delete", "noop"]
    url: EventUrl
    timestamp: Annotated[StrictInt, Field(ge=1, le=_LAST_MS)] | None = None
    data: Annotated[dict[str, Any], AfterValidator(_check_data_size)] | None = None


class SubscriptionIn(Strict):
    """A field that is null stays as it was, or gets its default."""

    topics: Annotated[list[TopicName], Field(max_length=MOST_TOPICS)]
    callback: Callback
    uuid: UserName | None = None
    timeout: Annotated[StrictInt, Field(ge=0, le=MOST_TIMEOUT)] | None = None
    max: Annotated[StrictInt, Field(ge=1, le=MOST_EVENTS)] | None = None


class TokenIn(Schema):
    """`token`: null means that one is generated."""

    name: str
    token: str | None = None


class TokenOut(Schema):
    name: str
    token: str


class TopicOut(Schema):
    """`events`: all that were ever published."""

    name: str
    publisher: str | None
    events: int


class EventsOut(Schema):
    """`oldest`: in seconds since 1970."""

    sent: int
    queued: int
    oldest: int | None


class SubscriberOut(Schema):
    """`timeout`: in milliseconds."""

    subscriber: str
    uuid: str
    callback: str
    max_events: int
    timeout: int
    topics: list[str]
    events: EventsOut


class PongOut(Schema):
    pong: str


# The answer of a call that has nothing to say.
NO_CONTENT: dict[Any, Any] = {204: None}
