"""Readers of single JSON values that trust nothing. Broken names what is wrong, not what came."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from trackers.xapi.errors import Garbage

INT4, INT8 = 2**31 - 1, 2**63 - 1
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1
    )
}
# What PostgreSQL's text cannot hold: NUL, and lone surrogates.
_UNSTORABLE = {0: "\ufffd"} | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


class Broken(ValueError):
    """One value is not what X documents; the text names it."""


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object in a body; Garbage when it is anything else."""
    try:
        value = orjson.loads(body)
    except ValueError:
        value = _read_leniently(body)
    if not isinstance(value, dict):
        raise Garbage(f"X answered with {json_type_name(value)} instead of an object.")
    return value


def _read_leniently(body: bytes) -> Any:
    """For what orjson refuses as a whole: mostly a lone surrogate in one tweet's text."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        what = "HTML" if body.lstrip()[:1] == b"<" else "nothing" if not body else "no JSON"
    raise Garbage(f"X answered with {what}.")


def json_type_name(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value"}
    return names.get(type(value), "nothing" if value is None else "a number")


def _read_count(metrics: Mapping[str, Any], name: str, *, most: int = INT4) -> int | None:
    """A count; None when it is absent. A null is Broken: X omits what it does not report."""
    if name not in metrics:
        return None
    value = metrics[name]
    # Not isinstance: True is an int.
    if type(value) is not int:
        raise Broken(f"{name} is {json_type_name(value)} instead of a whole number")
    if not 0 <= value <= most:
        raise Broken(f"{name} is out of range")
    return value


def read_counts(
    metrics: Mapping[str, Any], names: Sequence[tuple[str, int]], unread: list[str]
) -> list[int | None]:
    """Several counts; one that is not what X documents is None, and noted in `unread`.

    Broken when there is none that can be read.
    """
    values: list[int | None] = []
    wrong: list[str] = []
    for name, most in names:
        try:
            values.append(_read_count(metrics, name, most=most))
        except Broken as error:
            values.append(None)
            wrong.append(str(error))
    if values.count(None) == len(values):
        raise Broken(wrong[0] if wrong else "there is no count")
    unread += wrong
    return values


def id_of(value: Any, name: str) -> int:
    """An id of 1 to 19 digits that fits a bigint."""
    if type(value) is not str or not (value.isascii() and value.isdigit() and len(value) <= 19):
        raise Broken(f"{name} is not an id")
    number = int(value)
    if not 0 < number <= INT8:
        raise Broken(f"{name} is not an id")
    return number


def id_or_none(value: Any) -> int | None:
    try:
        return id_of(value, "id")
    except Broken:
        return None


def text_of(fields: Mapping[str, Any], name: str) -> str | None:
    """A text that PostgreSQL can store; None when absent."""
    value = fields.get(name)
    if value is None:
        return None
    if type(value) is not str:
        raise Broken(f"{name} is {json_type_name(value)} instead of a text")
    if "\x00" in value or not (value.isascii() or _is_encodable(value)):
        return value.translate(_UNSTORABLE)
    return value


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def short_text(fields: Mapping[str, Any], name: str, *, most: int) -> str:
    """A text for a column with a limit; one that is too long counts as absent."""
    text = text_of(fields, name) or ""
    return text if len(text) <= most else ""


def iso_time(post: Mapping[str, Any], name: str) -> datetime | None:
    """v2: `2026-08-19T08:41:37.000Z`, aware; None when absent or null."""
    value = post.get(name)
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(value)
        if time.utcoffset() == timedelta(0):
            return time
        if time.tzinfo is not None:
            return time.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        pass
    raise Broken(f"{name} is not a time")


def v1_time(post: Mapping[str, Any], name: str) -> datetime | None:
    """v1.1: `Sat Jul 13 02:26:37 +0000 2019`, aware; None when absent."""
    if name not in post:
        return None
    try:
        # By hand: strptime depends on the locale and is ten times slower.
        _, month, day, clock, offset, year = post[name].split(" ")
        hour, minute, second = clock.split(":")
        if offset != "+0000":
            raise ValueError
        numbers = (int(day), int(hour), int(minute), int(second))
        return datetime(int(year), _MONTHS[month], *numbers, tzinfo=UTC)
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError):
        pass
    raise Broken(f"{name} is not a time")
