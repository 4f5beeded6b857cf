"""The bodies of requests to the timeline store, and of its answers."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import BeforeValidator, Field, StrictBool, StrictInt, StrictStr

from trackers.api.wire.fields import MAX_ITEMS, DigitsOut, Id, Length, Offset
from trackers.timelines.store import Ask, Entry
from tweetwatch.http.json_bodies import Strict

_MAX_ASKS = 100


def _decode_metadata(value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise ValueError("metadata must be base64") from None


Metadata = Annotated[bytes, BeforeValidator(_decode_metadata)]


class EntryIn(Strict):
    id: Id
    secondary: Id | None = None
    metadata: Metadata = b""

    def entry(self) -> Entry:
        return Entry(self.id, self.secondary, self.metadata)


class Entries(Strict):
    entries: list[EntryIn] = Field(max_length=MAX_ITEMS)

    def to_entries(self) -> list[Entry]:
        return [entry.entry() for entry in self.entries]


class EntriesOrName(Strict):
    """`from`: everything in another timeline, instead of `entries`."""

    entries: list[EntryIn] | None = Field(default=None, max_length=MAX_ITEMS)
    source: StrictStr | None = Field(default=None, alias="from")

    def to_entries(self) -> list[Entry] | None:
        """None if `from` is given."""
        if (self.entries is None) == (self.source is None):
            raise ValueError("Give either entries, or from, the name of a timeline.")
        return None if self.entries is None else [entry.entry() for entry in self.entries]


class Append(Entries):
    timelines: list[StrictStr] = Field(max_length=MAX_ITEMS)


class Delete(Strict):
    ids: list[Id] = Field(max_length=MAX_ITEMS)
    timelines: list[StrictStr] = Field(max_length=MAX_ITEMS)


class Filter(Strict):
    ids: list[Id] = Field(max_length=MAX_ITEMS)
    max_search: StrictInt = -1


class AskIn(Strict):
    name: StrictStr
    offset: Offset = 0
    length: Length = 50
    dedupe: StrictBool = False
    since: Id | None = None

    def ask(self) -> Ask:
        return Ask(self.name, self.offset, self.length, self.dedupe, self.since)


class Asks(Strict):
    asks: list[AskIn] = Field(max_length=_MAX_ASKS)


class EntryOut(Schema):
    """`secondary`: what it repeats; `metadata` is base64, and empty in homes."""

    id: DigitsOut
    secondary: DigitsOut | None
    metadata: str


class SegmentOut(Schema):
    """MISS: there is no timeline of this name."""

    state: Literal["HIT", "MISS"]
    size: int
    entries: list[EntryOut]


class SegmentsOut(Schema):
    segments: list[SegmentOut]
