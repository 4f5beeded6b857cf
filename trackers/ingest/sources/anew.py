"""A source that is changed to something else starts over; what it had not read yet is given up.

Given up is not filled: each such stretch becomes a closed gap that names what the source read then
(`Gap.was_of`), and so does what came after its cursor. What is lost stays lost.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from trackers.ingest.sources.models import Gap, SearchCount, Source
from trackers.ingest.sources.naming import short
from trackers.ingest.sources.source_events import publish_gaps
from trackers.ingest.stream.models import Stream
from trackers.tweets.snowflake import born_at, first_id_at

# How far it is read, and what is under way.
READ_SO_FAR = (
    "latest_id", "asked_at_ms", "passed_id", "begun_id", "first_read_at", "sweep", "filling",
    "resting", "overlapped_at", "deep_overlapped_at",
)  # fmt: skip
# Whom the name belongs to at X, and how reading it went.
NAMED = ("account_id", "username", "rule_id", "poll_at", "hidden_reason", "problem", "failures")
# The longest default of `late_by`.
_LATE = timedelta(minutes=1)
_MILLISECOND = timedelta(milliseconds=1)


def clear_fields(source: Source, names: tuple[str, ...]) -> None:
    """Reset these fields to those of a new source; nothing is saved."""
    fresh = Source()
    for name in names:
        setattr(source, name, getattr(fresh, name))


def begin_anew(source: Source, *, was_of: str, now: datetime) -> str:
    """Give up what is unread of its former origin; the caller saves its fields.

    Returns a sentence for the user who changed it; empty when nothing was unread. The caller holds
    its row.
    """
    since = _unread_since(source, now=now)
    gaps = source.gaps.filter(was_of="", closed_at=None)
    gaps.filter(why=Gap.Why.REACH).update(was_of=was_of)
    given_up = gaps.exclude(why=Gap.Why.REACH).update(was_of=was_of, closed_at=now)
    if since is not None:
        until = _id_at(now)
        source.gaps.create(
            from_id=since, to_id=until, why=Gap.Why.EDITED, was_of=was_of,
            found_at=now, closed_at=now,
        )  # fmt: skip
        publish_gaps([(source.pk, since, until)], Gap.Why.EDITED)
    clear_fields(source, READ_SO_FAR)
    # X counted what the former query finds.
    SearchCount.objects.filter(source=source).delete()
    return _sentence(was_of, gaps=given_up, since=since, now=now)


def _sentence(was_of: str, *, gaps: int, since: int | None, now: datetime) -> str:
    lost = []
    if since is not None:
        lost.append(f"posts from {_time_text(born_at(since))} to {_time_text(now)}")
    if gaps:
        lost.append(f"{gaps:,} gap{'s' if gaps > 1 else ''}")
    if not lost:
        return ""
    return f"Given up and no longer read, of “{short(was_of)}”: {' and '.join(lost)}."


def _time_text(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _unread_since(source: Source, *, now: datetime) -> int | None:
    """The id after which nothing was read; None when all was read, or nothing ever."""
    if source.kind == Source.Kind.STREAM:
        return _unheard_since(source, now=now)
    if source.latest_id is None:
        return None
    since = source.latest_id
    if source.asked_at_ms is not None:
        late = _LATE if source.late_by is None else source.late_by
        since = max(since, first_id_at(source.asked_at_ms - late // _MILLISECOND) - 1)
    return since if since < _id_at(now) else None


def _unheard_since(source: Source, *, now: datetime) -> int | None:
    """The same of a stream, while no process listens."""
    stream = Stream.objects.first()
    if stream is None or stream.state == Stream.State.OPEN or stream.stored_until is None:
        return None
    since = _id_at(max(stream.stored_until, source.created_at))
    return since if since < _id_at(now) else None


def _id_at(at: datetime) -> int:
    return first_id_at(int(at.timestamp() * 1000))
