"""The live stream's card: the state of its connection, and what came through it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from trackers.dashboards.sources.rows import Number, exact_number
from trackers.dashboards.words import Moment, ago, ahead, with_code
from trackers.ingest.sources.models import Stream
from trackers.ingest.sources.standing import is_silent


@dataclass(frozen=True, slots=True)
class Connection:
    """The one connection of the filtered stream, for its card."""

    state: str
    mood: str
    since: Moment | None
    heard: Moment | None
    next_try: Moment | None
    because: str
    lines: Number
    duplicates: Number
    garbled: Number
    reconnects: Number
    others: int
    who: str


def connection_of(stream: Stream | None, *, now: datetime) -> Connection:
    stream = stream or Stream()

    def since(at: datetime | None) -> Moment | None:
        return ago(at, now=now) if at else None

    silent = is_silent(stream, now=now)
    waits = not silent and stream.state == Stream.State.WAITING and stream.next_try_at is not None
    return Connection(
        state="not running" if silent else stream.get_state_display(),
        mood="warn"
        if silent
        else {"open": "ready", "stopped": "warn", "waiting": "warn"}.get(stream.state, ""),
        since=since(stream.state_since),
        heard=since(stream.heard_at),
        next_try=ahead(stream.next_try_at, now=now) if waits and stream.next_try_at else None,
        because=with_code(stream.because),
        lines=exact_number(stream.lines),
        duplicates=exact_number(stream.duplicates),
        garbled=exact_number(stream.garbled),
        reconnects=exact_number(max(0, stream.connects - 1)),
        others=stream.rules_of_others,
        who=f"{stream.host}, pid {stream.pid}" if stream.pid else "",
    )
