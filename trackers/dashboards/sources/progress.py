"""The cursor of a source in words, and the reading under way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers import tasks
from trackers.dashboards.words import Moment, ago, commas, lasting
from trackers.ingest.polls.begin import since_id_of, through_id_of
from trackers.ingest.polls.state import cursor_of, rules_of, sweep_of
from trackers.ingest.polls.sweep import Cursor, Purpose, ReadingRules, Sweep
from trackers.ingest.sources.models import Source
from trackers.tweets.snowflake import born_at

_SECOND = timedelta(seconds=1)

_WAITING: dict[Purpose, str] = {
    "poll": "A poll is waiting to continue",
    "gap": "The filling of a gap is waiting to continue",
    "overlap": "A re-read for missed posts is waiting to continue",
}
_PURPOSES: dict[Purpose, str] = {
    "poll": "A poll is under way",
    "gap": "A gap is being filled",
    "overlap": "Posts are being read again, to find any that were missed",
}


@dataclass(frozen=True, slots=True)
class SweepUnderWay:
    """A reading under way: what for, and how far down it is."""

    purpose: str
    pages: str
    down_to: Moment | None
    pages_left: str


@dataclass(frozen=True, slots=True)
class ReadingProgress:
    through: Moment | None  # everything up to here is read; None until the first poll has finished
    newest: Moment | None
    k: str
    sweeping: SweepUnderWay | None


def reading_progress(source: Source, *, now: datetime, waits: bool = False) -> ReadingProgress:
    """`waits`: something keeps the source from being read now."""
    rules, at = rules_of(source, tasks.polling()), cursor_of(source)
    # An overlap gives way while polls are due.
    resting = Sweep(**source.resting) if source.resting else None
    sweep = sweep_of(source) or resting
    k = timedelta(milliseconds=rules.k_ms)
    return ReadingProgress(
        through=_read_through(at, rules, now=now) if at else None,
        newest=ago(born_at(at.latest_id), now=now) if at and at.latest_id else None,
        k=lasting(k) if k >= _SECOND else f"{rules.k_ms} ms",
        sweeping=_sweep_under_way(sweep, _WAITING if waits else _PURPOSES, now=now)
        if sweep
        else None,
    )


def _read_through(at: Cursor, rules: ReadingRules, *, now: datetime) -> Moment:
    return ago(born_at(max(since_id_of(at, rules), through_id_of(at, rules))), now=now)


def _sweep_under_way(sweep: Sweep, words: Mapping[Purpose, str], *, now: datetime) -> SweepUnderWay:
    return SweepUnderWay(
        purpose=words[sweep.purpose],
        pages=commas(sweep.pages),
        down_to=ago(born_at(sweep.oldest_id), now=now) if sweep.oldest_id else None,
        # An overlap is always read to the end.
        pages_left="" if sweep.purpose == "overlap" else commas(sweep.pages_left),
    )
