"""How a source stands, in words: its state, its next poll, the leak meter, its gaps; and the live
stream's card.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.safestring import SafeString

from trackers.dashboards.words import brief, commas, with_code
from trackers.ingest.sources.models import Source
from trackers.ingest.sources.status import SourceStatus, is_silent
from trackers.ingest.stream.models import Stream
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
class SourceRow:
    """A source as the list shows it."""

    status: SourceStatus
    badge: str
    mood: str
    sentence: str  # its state in a sentence, without times
    problem: str
    leak_rate: str  # a share in words, empty without leaks
    gaps: str
    gaps_mood: str
    skew: str
    can_poll: bool

    @property
    def source(self) -> Source:
        return self.status.source

    @property
    def helped_by(self) -> str:
        """The act that its state asks for, if any."""
        if self.source.paused_at:
            return "resume"
        return "poll" if self.status.state in ("isolated", "idle") else ""

    @property
    def rank(self) -> tuple[int, str]:
        """Trouble first, then by name."""
        moods = (self.mood, self.gaps_mood)
        trouble = 0 if "bad" in moods else 1 if "warn" in moods else 2
        return trouble, str(self.source).lower()

    @property
    def is_finished(self) -> bool:
        """A file that has been read to its end."""
        return self.status.state == "done"

    @property
    def has_gaps(self) -> bool:
        """Whether it can have gaps: a file has bad lines instead."""
        return self.source.kind != Source.Kind.IMPORT


def source_row(status: SourceStatus) -> SourceRow:
    source = status.source
    return SourceRow(
        status,
        badge=_STATE_BADGES[status.state],
        mood=_STATE_MOODS.get(status.state, ""),
        sentence=_describe_state(status),
        problem=with_code(status.reason) if status.state in ("problem", "no_money") else "",
        leak_rate=_leak_rate(source.leaked, source.yielded),
        gaps=_gap_counts(status.gaps_open, status.gaps_lost),
        gaps_mood="bad" if status.gaps_lost else "warn" if status.gaps_open else "",
        skew=_describe_skew(source.skew),
        can_poll=_can_poll(status),
    )


def _can_poll(status: SourceStatus) -> bool:
    """Includes a rule whose gaps are filled by polls that never came to an end."""
    source = status.source
    return source.paused_at is None and (source.is_polled or status.state == "isolated")


def _describe_state(status: SourceStatus) -> str:
    source = status.source
    match status.state:
        case "paused":
            return "not read until it is resumed"
        case "hidden":
            return f"X does not show it: {status.reason}"
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
            return _describe_progress(status) if status.report else "is being read now"
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
            return status.reason


def _describe_progress(status: SourceStatus) -> str:
    report = status.report
    if report is None or not report.parts:
        return "waiting for its turn"
    return f"{report.parts_done:,} of {report.parts:,} parts of the file have been read"


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
    return f"our clock is {brief(abs(by).total_seconds())} {where} X's"


@dataclass(frozen=True, slots=True)
class Connection:
    """The one connection of the filtered stream, for its card."""

    stream: Stream
    state: str
    mood: str
    next_try: datetime | None
    because: SafeString
    reconnects: int


def connection_of(stream: Stream | None, *, now: datetime) -> Connection:
    stream = stream or Stream()
    silent = is_silent(stream, now=now)
    moods = {"open": "ready", "stopped": "warn", "waiting": "warn"}
    waits = not silent and stream.state == Stream.State.WAITING
    return Connection(
        stream,
        state="not running" if silent else stream.get_state_display(),
        mood="warn" if silent else moods.get(stream.state, ""),
        next_try=stream.next_try_at if waits else None,
        because=with_code(stream.because),
        reconnects=max(0, stream.connects - 1),
    )
