"""What clients send, checked before anything is stored; a Refused says what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

import orjson
from django.conf import settings

from trackers.bus.answers import malformed
from trackers.events.subscribers.addresses import MOST_CALLBACK, MOST_EVENT, fault_of
from trackers.events.subscribers.rules import (
    MOST_EVENTS,
    MOST_TIMEOUT,
    MOST_TOPICS,
    NAME,
    NAME_RULE,
    TOPIC,
    TOPIC_RULE,
    UUID,
    UUID_RULE,
)
from trackers.outbox.models import OURS, Event

# The end of the year 9999.
LAST_MS = 253_402_300_799_999

SUBSCRIPTION_KEYS = ("topics", "callback", "uuid", "timeout", "max")


@dataclass(frozen=True, slots=True)
class Publication:
    """`t`: milliseconds since 1970; None means now."""

    type: str
    url: str
    t: int | None
    data: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A subscription; a field that is None stays as it was, or gets its default."""

    topics: frozenset[str]
    callback: str
    uuid: str | None
    timeout: int | None
    max: int | None


@dataclass(frozen=True, slots=True)
class NewToken:
    """`token`: None means that one is generated."""

    name: str
    token: str | None


def topic_name(name: Any) -> str:
    if not isinstance(name, str) or not TOPIC.fullmatch(name):
        raise malformed(f"The name of a topic {TOPIC_RULE}")
    return name


def publication(given: Mapping[str, Any]) -> Publication:
    if given.get("type") not in Event.Type.values:
        raise malformed(f"type must be one of {', '.join(Event.Type.values)}.")
    return Publication(
        given["type"],
        address(given, "url", most=MOST_EVENT),
        whole(given, "timestamp", least=1, most=LAST_MS),
        payload(given),
    )


def payload(given: Mapping[str, Any]) -> dict[str, Any] | None:
    data, most = given.get("data"), settings.BUS_DATA_MOST
    if data is None:
        return None
    if not isinstance(data, dict):
        raise malformed("data must be a JSON object.")
    try:
        size = len(orjson.dumps(data))
    except TypeError:
        raise malformed("data is nested too deeply.") from None
    if size > most:
        raise malformed(
            f"data is too large: {size:,} bytes of JSON, and at most {most:,} are allowed."
        )
    if has_nul(data):
        raise malformed("data has the character U+0000, which cannot be stored.")
    return data


def has_nul(value: Any) -> bool:
    if isinstance(value, dict):
        return any("\0" in name or has_nul(inner) for name, inner in value.items())
    if isinstance(value, list):
        return any(map(has_nul, value))
    return isinstance(value, str) and "\0" in value


def wanted(given: Mapping[str, Any]) -> Wanted:
    if given.keys() - set(SUBSCRIPTION_KEYS):
        raise malformed(
            f"A subscription may have {', '.join(SUBSCRIPTION_KEYS)}, and nothing else."
        )
    topics = given.get("topics")
    if not isinstance(topics, list) or len(topics) > MOST_TOPICS:
        raise malformed(f"topics must be a list of at most {MOST_TOPICS:,} names.")
    return Wanted(
        frozenset(map(topic_name, topics)),
        address(given, "callback", most=MOST_CALLBACK),
        uuid(given),
        whole(given, "timeout", least=0, most=MOST_TIMEOUT),
        whole(given, "max", least=1, most=MOST_EVENTS),
    )


def uuid(given: Mapping[str, Any]) -> str | None:
    found = given.get("uuid")
    if found is None or (isinstance(found, str) and UUID.fullmatch(found)):
        return found
    raise malformed(f"uuid {UUID_RULE}")


def new_token(given: Mapping[str, Any]) -> NewToken:
    name, token = given.get("name"), given.get("token")
    if not is_name(name):
        raise malformed(f"name {NAME_RULE}")
    if name == OURS:
        raise malformed(f"The name {OURS} is reserved for this program's own topics.")
    if token is not None and not is_name(token):
        raise malformed(f"token {NAME_RULE}")
    return NewToken(name, token)


def is_name(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and NAME.fullmatch(value) is not None


def address(given: Mapping[str, Any], name: str, *, most: int) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise malformed(f"{name} is missing, or is not text.")
    if fault := fault_of(value, most=most, plain_http=settings.EGRESS_PLAIN_HTTP):
        raise malformed(f"{name} {fault}.")
    return value


def whole(given: Mapping[str, Any], name: str, *, least: int, most: int) -> int | None:
    value = given.get(name)
    if value is None:
        return None
    # bool is a subclass of int in Python.
    if type(value) is not int or not least <= value <= most:
        raise malformed(f"{name} must be a whole number from {least:,} to {most:,}.")
    return value
