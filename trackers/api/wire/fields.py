"""Types of what is asked and answered. Ids are strings of digits: as JSON numbers, many programs
round them. Times are in UTC, in the description as well.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import BeforeValidator, Field, PlainSerializer, StrictInt, WithJsonSchema

from trackers.schedule.durations import spell
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.clock_times import iso

# Items of a list in a body.
MAX_ITEMS = 1_000
# Ids in an address: with each comma as %2C they fit into the 8 kB that servers and proxies accept.
MAX_IDS_IN_ADDRESS = 300
_DIGITS = re.compile(r"-?[0-9]{1,19}")
_AS_DIGITS = WithJsonSchema({"type": "string", "pattern": "^-?[0-9]{1,19}$"}, mode="validation")
Offset = Annotated[StrictInt, Field(ge=0, le=LARGEST_ID)]
Length = Annotated[StrictInt, Field(ge=0, le=MAX_ITEMS)]
TimeOut = Annotated[
    datetime,
    PlainSerializer(iso, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
MetricName = Literal["retweets", "replies", "likes", "quotes", "bookmarks", "views"]
KindName = Literal["reply", "quote", "video", "photo", "link", "text"]
# The answer of a call that has nothing to say.
NO_CONTENT: dict[Any, Any] = {204: None}


def _parse_id(value: Any) -> int:
    if not isinstance(value, str) or not _DIGITS.fullmatch(value):
        raise ValueError("an id is a string of up to 19 digits")
    id = int(value)
    # In the database it is a bigint.
    if not -LARGEST_ID - 1 <= id <= LARGEST_ID:
        raise ValueError("an id has up to 64 bits")
    return id


Id = Annotated[int, BeforeValidator(_parse_id), _AS_DIGITS]
# Of a tweet, an account or a source, which is never below 0.
UnsignedId = Annotated[
    int,
    BeforeValidator(_parse_id),
    Field(ge=0, le=LARGEST_ID),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]{1,19}$"}, mode="validation"),
]


def ids_of(text: str) -> list[int]:
    """Of tweets, from a query: with commas between them, each once."""
    words = [word.strip() for word in text.split(",")]
    if any(not (word.isascii() and word.isdigit() and len(word) < 20) for word in words):
        raise ValueError("ids: ids of tweets, comma-separated.")
    ids = list(dict.fromkeys(int(word) for word in words))
    if max(ids) > LARGEST_ID:
        raise ValueError("ids: no tweet has such a large id.")
    return ids


def _digits_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) else value


def _spelled_length(value: Any) -> Any:
    return spell(value) if isinstance(value, timedelta) else value


DigitsOut = Annotated[
    str, BeforeValidator(_digits_text), WithJsonSchema({"type": "string", "pattern": "^-?[0-9]+$"})
]
# As people write them: 60s, 18m, 7d.
LengthOut = Annotated[
    str, BeforeValidator(_spelled_length), WithJsonSchema({"type": "string", "examples": ["18m"]})
]

ZoneName = Annotated[str, Field(max_length=60, pattern=r"^[A-Za-z0-9_+/-]*$")]


class SpanOut(Schema):
    """From `since` up to before `until`."""

    since: TimeOut
    until: TimeOut
