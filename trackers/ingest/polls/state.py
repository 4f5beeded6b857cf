"""Converts between a source's rows and the plain values that its readings are decided with."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import cast

from trackers.ingest.polls.pages import unix_ms
from trackers.ingest.polls.sweep import Cursor, ReadingRules, Sweep, Unread, Why
from trackers.ingest.sources.archive import query_of
from trackers.ingest.sources.models import Gap, Source
from trackers.ingest.sources.naming import list_id
from trackers.xapi.page import Excluded, PageKind

# Search shows a post up to this much later than a timeline does.
_SEARCH_LAG_MS = 30_000


@dataclass(frozen=True, slots=True)
class Polling:
    """How sources are polled: how X is asked, and the settings common to all of them."""

    base_url: str
    timeout: timedelta
    # How much later than its id says a post may appear, for sources without a bound of their own.
    late_timelines: timedelta
    late_search: timedelta
    overlap_every: timedelta  # the last part is read again so often
    overlap_depth: timedelta  # how much
    overlap_weekly_depth: timedelta  # how much once a week


def kind_of(source: Source) -> PageKind:
    """The kind of page to ask X for: search fills the gaps of a stream, and the archive those that
    a person had it searched for."""
    if source.sweep and source.sweep.get("of_archive"):
        return "archive"
    return "search" if source.kind == Source.Kind.STREAM else cast("PageKind", source.kind)


def rules_of(source: Source, polling: Polling) -> ReadingRules:
    kind = kind_of(source)
    is_search = kind in ("search", "archive")
    usual = polling.late_search if is_search else polling.late_timelines
    late_by = usual if source.late_by is None else source.late_by
    return ReadingRules(
        kind,
        k_ms=late_by // timedelta(milliseconds=1),
        lag_ms=_SEARCH_LAG_MS if is_search else 0,
        pages=source.pages,
        exclude=_excluded(source),
    )


def _excluded(source: Source) -> tuple[Excluded, ...]:
    chosen: dict[Excluded, bool] = {
        "replies": source.exclude_replies,
        "retweets": source.exclude_retweets,
    }
    return tuple(name for name, is_chosen in chosen.items() if is_chosen)


def asked_of(source: Source) -> int | str | None:
    """The account, list or query to ask X for; None while the account's id is unknown.

    Raises ValueError, with a sentence, for a list without a number.
    """
    match kind_of(source):
        case "archive" if source.kind != Source.Kind.ACCOUNT or source.account_id:
            return query_of(source)
        case "search":
            return source.of
        case "list":
            return int(list_id(source.of))
        case _:
            return source.account_id


def cursor_of(source: Source) -> Cursor | None:
    if source.latest_id is None:
        return None
    return Cursor(source.latest_id, source.asked_at_ms, source.passed_id)


def set_cursor(source: Source, cursor: Cursor | None) -> None:
    if cursor is not None:
        source.latest_id, source.asked_at_ms = cursor.latest_id, cursor.asked_at_ms
        source.passed_id = cursor.passed_id


def sweep_of(source: Source) -> Sweep | None:
    return Sweep(**source.sweep) if source.sweep else None


def set_sweep(source: Source, sweep: Sweep | None) -> None:
    source.sweep = asdict(sweep) if sweep else None


def unread_of(row: Gap) -> Unread:
    # A stream's gap is filled like one left by a lack of requests.
    why = "quota" if row.is_of_stream else row.why
    return Unread(row.from_id, row.to_id, cast("Why", why), row.token or None)


def ms(at: datetime) -> int:
    return cast("int", unix_ms(at))
