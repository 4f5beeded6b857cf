"""How a source stands, in words: its state, its next poll, the leak meter, its gaps; and the live
stream's card.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.dashboards.words import Moment, ago, ahead, commas, with_code
from trackers.ingest.sources.models import Source, Stream
from trackers.ingest.sources.standing import Standing, is_silent
from trackers.schedule.durations import spoken_after_every

# A clock that is off by more than this is worth a mention.
_SKEW_WORTH_TELLING = timedelta(seconds=1)

_STATE_BADGES = {
    "paused": "Paused",
    "not_found": "Not found on X",
    "hidden": "Hidden",
    "no_money": "Waits for money",
    "problem": "Problem",
    "isolated": "Isolated",
    "reading": "Reading",
    "new": "New",
    "polled": "Polled",
    "idle": "Idle",
    "live": "Live",
    "connecting": "Connecting",
    "waiting": "Waiting",
    "stopped": "Not running",
    "uploading": "Uploading",
    "uploaded": "Ready to start",
    "done": "Done",
}
_STATE_MOODS = {
    "not_found": "bad",
    "no_money": "warn",
    "hidden": "bad",
    "problem": "bad",
    "isolated": "bad",
    "paused": "warn",
    "idle": "warn",
    "waiting": "warn",
    "stopped": "warn",
    "uploaded": "warn",
    "polled": "ready",
    "live": "ready",
    "done": "ready",
}


@dataclass(frozen=True, slots=True)
class Number:
    value: str
    exact: str  # the number unrounded


@dataclass(frozen=True, slots=True)
class LeakMeter:
    """The leak meter: posts that appeared below a cursor that had already passed them."""

    count: Number
    rate: str  # a share in words, empty without leaks
    checked: Moment | None  # the last overlap
    mood: str


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A source as the list shows it."""

    id: int
    kind: str
    kind_words: str
    name: str
    owner: str
    state: str
    badge: str
    mood: str
    sentence: str  # its state in a sentence, without times
    problem: str
    next: Moment | None
    polled: Moment | None
    ended: Moment | None
    yielded: Number
    again: Number
    leaks: LeakMeter
    gaps: str
    gaps_mood: str
    skew: str
    is_polled: bool
    is_paused: bool
    can_poll: bool

    @property
    def helped_by(self) -> str:
        """The act that its state asks for, if any."""
        if self.is_paused:
            return "resume"
        return "poll" if self.state in ("isolated", "idle") else ""

    @property
    def rank(self) -> tuple[int, str]:
        """Trouble first, then by name."""
        moods = (self.mood, self.gaps_mood)
        trouble = 0 if "bad" in moods else 1 if "warn" in moods else 2
        return trouble, self.name.lower()

    @property
    def is_finished(self) -> bool:
        """A file that has been read to its end."""
        return self.state == "done"

    @property
    def has_gaps(self) -> bool:
        """Whether it can have gaps: a file has bad lines instead."""
        return self.kind != Source.Kind.IMPORT


def source_rows(statuses: Iterable[Standing], *, now: datetime) -> list[SourceRow]:
    return [source_row(standing, now=now) for standing in statuses]


def source_row(standing: Standing, *, now: datetime) -> SourceRow:
    source = standing.source
    return SourceRow(
        id=source.pk,
        kind=source.kind,
        kind_words=source.get_kind_display(),
        name=str(source),
        owner=source.owner,
        state=standing.state,
        badge=_STATE_BADGES[standing.state],
        mood=_STATE_MOODS.get(standing.state, ""),
        sentence=_describe_state(standing),
        problem=with_code(standing.reason) if standing.state in ("problem", "no_money") else "",
        next=ahead(standing.next_poll_at, now=now) if standing.next_poll_at else None,
        polled=ago(source.polled_at, now=now) if source.polled_at else None,
        ended=_ended_at(standing, now=now),
        yielded=_exact_number(source.yielded),
        again=_exact_number(source.again),
        leaks=_leak_meter(source, now=now),
        gaps=_gap_counts(standing.gaps_open, standing.gaps_lost),
        gaps_mood="bad" if standing.gaps_lost else "warn" if standing.gaps_open else "",
        skew=_describe_skew(source.skew),
        is_polled=source.is_polled,
        is_paused=source.paused_at is not None,
        can_poll=_can_poll(standing),
    )


def _ended_at(standing: Standing, *, now: datetime) -> Moment | None:
    """When the file was read to its end."""
    at = standing.report.ended_at if standing.report else None
    return ago(at, now=now) if at else None


def _can_poll(standing: Standing) -> bool:
    """Includes a rule whose gaps are filled by polls that never came to an end."""
    source = standing.source
    return source.paused_at is None and (source.is_polled or standing.state == "isolated")


def _describe_state(standing: Standing) -> str:
    source = standing.source
    match standing.state:
        case "paused":
            return "not read until it is resumed"
        case "hidden":
            return f"X does not show it: {standing.reason}"
        case "not_found":
            what = "list" if source.kind == Source.Kind.LIST else "name"
            return f"X does not know this {what}: correct it, or remove the source"
        case "problem" | "no_money":
            return ""
        case "new":
            return f"the first poll is due, then every {spoken_after_every(source.every)}"
        case "polled":
            return f"reads every {spoken_after_every(source.every)}"
        case "reading":
            return _describe_progress(standing) if standing.report else "is being read now"
        case "live":
            return "posts come in as they appear"
        case "done":
            return "the whole file has been read"
        case "uploading":
            return "the upload is under way, or was interrupted"
        case "uploaded":
            return "look at the file, and start the import"
        case "connecting" | "waiting":
            return "a search will fetch what appears in the meantime"
        case _:
            return standing.reason


def _describe_progress(standing: Standing) -> str:
    report = standing.report
    if report is None or not report.parts:
        return "waiting for its turn"
    return f"{report.parts_done:,} of {report.parts:,} parts of the file have been read"


def _exact_number(count: int) -> Number:
    return Number(commas(count), str(count))


def _leak_meter(source: Source, *, now: datetime) -> LeakMeter:
    return LeakMeter(
        count=_exact_number(source.leaked),
        rate=_leak_rate(source.leaked, source.yielded),
        checked=ago(source.overlapped_at, now=now) if source.overlapped_at else None,
        mood="warn" if source.leaked else "",
    )


def _leak_rate(leaked: int, yielded: int) -> str:
    if not leaked or not yielded:
        return ""
    return f"1 in {commas(round(yielded / leaked))} posts" if leaked < yielded else "all posts"


def _gap_counts(open: int, lost: int) -> str:
    """In words; empty when nothing is missing."""
    parts = [f"{commas(count)} {word}" for count, word in ((open, "open"), (lost, "lost")) if count]
    return ", ".join(parts)


def _describe_skew(by: timedelta | None) -> str:
    """How far our clock is off X's, if that is worth a mention."""
    if by is None or abs(by) <= _SKEW_WORTH_TELLING:
        return ""
    where = "ahead of" if by > timedelta(0) else "behind"
    return f"our clock is {abs(by).total_seconds():,.1f} s {where} X's"


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
        lines=_exact_number(stream.lines),
        duplicates=_exact_number(stream.duplicates),
        garbled=_exact_number(stream.garbled),
        reconnects=_exact_number(max(0, stream.connects - 1)),
        others=stream.rules_of_others,
        who=f"{stream.host}, pid {stream.pid}" if stream.pid else "",
    )
