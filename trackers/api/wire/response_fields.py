"""Types of what is answered: ids as digits, times in UTC, in the description as well."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from trackers.schedule.durations import spell
from tweetwatch.clock_times import iso


def _digits_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) else value


def _spelled_length(value: Any) -> Any:
    return spell(value) if isinstance(value, timedelta) else value


DigitsOut = Annotated[
    str, BeforeValidator(_digits_text), WithJsonSchema({"type": "string", "pattern": "^-?[0-9]+$"})
]
TimeOut = Annotated[
    datetime,
    PlainSerializer(iso, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
# As people write them: 60s, 18m, 7d.
LengthOut = Annotated[
    str, BeforeValidator(_spelled_length), WithJsonSchema({"type": "string", "examples": ["18m"]})
]

# The answer of a call that has nothing to say.
NO_CONTENT: dict[Any, Any] = {204: None}
