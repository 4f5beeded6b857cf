"""The status of sources: each one's state and why, its next poll, and what it is missing.

For the pages, the admin and `status`; a few queries for any number of sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from trackers.credentials import sentences
from trackers.ingest.files.models import Import
from trackers.ingest.sources.models import Gap, Source, SourcePoll
from trackers.ingest.stream.models import Stream
from trackers.jobs import queue
from trackers.jobs.models import MAX_STRIKES

HIDDEN = {
    "protected": "protected",
    "suspended": "suspended",
    "unauthorized": "not visible to our credentials",
    "unavailable": "unavailable, reason unknown",
}


NO_LISTENER = "no process is listening: start manage.py stream"


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source and what its row does not say."""

    source: Source
    # Paused, not_found, hidden, no_money, problem, isolated, reading, new, polled, idle; of a
    # stream live, connecting, waiting, stopped; of a file uploading, uploaded, reading, done.
    state: str
    reason: str  # a phrase, or a sentence by X, that explains it; may be empty
    next_poll_at: datetime | None = None
    gaps_open: int = 0
    gaps_lost: int = 0
    report: Import | None = None  # for imports
    stream: Stream | None = None  # for rules


def source_statuses(sources: Sequence[Source], *, now: datetime) -> list[SourceStatus]:
    keys = [source.pk for source in sources]
    jobs = SourcePoll.objects.in_bulk(keys)
    claims = queue.claims(SourcePoll.queue, keys)
    gaps = _gaps_of(keys)
    reports = Import.objects.in_bulk(one.pk for one in sources if one.kind == Source.Kind.IMPORT)
    stream = Stream.objects.first() if any(_is_stream(one) for one in sources) else None
    return [
        _source_status(
            source,
            jobs.get(source.pk),
            claims.get(source.pk),
            gaps.get(source.pk, (0, 0)),
            report=reports.get(source.pk),
            stream=stream if _is_stream(source) else None,
            now=now,
        )
        for source in sources
    ]


def _source_status(
    source: Source,
    job: SourcePoll | None,
    claimed_until: datetime | None,
    gaps: tuple[int, int],
    *,
    report: Import | None,
    stream: Stream | None,
    now: datetime,
) -> SourceStatus:
    state, reason = _state_of(source, job, claimed_until, report=report, stream=stream, now=now)
    is_planned = job is not None and source.is_polled
    waits = is_planned and state not in ("paused", "isolated", "reading")
    # While something keeps it from being read, the job knows when it is tried again.
    is_kept = state in ("no_money", "problem")
    return SourceStatus(
        source=source,
        state=state,
        reason=reason,
        # The job may be due sooner, to fill a gap.
        next_poll_at=((not is_kept and source.poll_at) or job.due_at) if job and waits else None,
        gaps_open=gaps[0],
        gaps_lost=gaps[1],
        report=report,
        stream=stream,
    )


def _state_of(
    source: Source,
    job: SourcePoll | None,
    claimed_until: datetime | None,
    *,
    report: Import | None,
    stream: Stream | None,
    now: datetime,
) -> tuple[str, str]:
    """Checked in order of what a person should know first."""
    if source.paused_at:
        return "paused", ""
    if source.kind == Source.Kind.IMPORT:
        return _of_file(report)
    if source.hidden_reason == "not_found":
        return "not_found", source.problem
    if source.hidden_reason:
        return "hidden", HIDDEN.get(source.hidden_reason, source.hidden_reason)
    if source.problem:
        return ("no_money" if sentences.is_spent(source.problem) else "problem"), source.problem
    if job is not None and job.strikes >= MAX_STRIKES:
        return "isolated", "four polls of it never finished: poll it now to try again"
    if _is_stream(source):
        return _of_stream(source, stream, now=now)
    if job is None:
        return "idle", "no poll is planned: poll it now, or pause and resume it"
    if _is_being_read(source, job, claimed_until, now=now):
        return "reading", ""
    return ("polled", "") if source.polled_at else ("new", "")


def _of_file(report: Import | None) -> tuple[str, str]:
    """An upload waits until a person has looked at it and started the import."""
    if report is None or report.uploaded_at is None:
        return "uploading", ""
    if report.began_at is None:
        return "uploaded", ""
    return ("done" if report.ended_at else "reading"), ""


def _of_stream(source: Source, stream: Stream | None, *, now: datetime) -> tuple[str, str]:
    if stream is None or stream.state == Stream.State.STOPPED:
        because = stream.because if stream else ""
        return "stopped", because or NO_LISTENER
    if is_silent(stream, now=now):
        return "stopped", NO_LISTENER
    if stream.state == Stream.State.OPEN:
        return ("live", "") if source.rule_id else ("connecting", "the rule is being added at X")
    if sentences.is_spent(stream.because):
        return "no_money", stream.because
    return ("waiting" if stream.state == Stream.State.WAITING else "connecting"), stream.because


def _is_being_read(
    source: Source, job: SourcePoll, claimed_until: datetime | None, *, now: datetime
) -> bool:
    """Whether a worker has it, or it is between two pages of a poll."""
    if claimed_until is not None and claimed_until > now:
        return True
    return job.due_at <= now and source.is_in_a_poll


def is_silent(stream: Stream, *, now: datetime) -> bool:
    """Whether its process was killed, so that the row is out of date."""
    return stream.lease_until is not None and stream.lease_until <= now


def _is_stream(source: Source) -> bool:
    return source.kind == Source.Kind.STREAM


def _gaps_of(keys: Sequence[int]) -> dict[int, tuple[int, int]]:
    """How many gaps of each source are open, and how many are lost."""
    lost = Q(why=Gap.Why.REACH, archive_asked_at=None)
    gaps = (
        Gap.objects.filter(source__in=keys, closed_at=None)
        .order_by()
        .values_list("source")
        .annotate(open=Count("pk", filter=~lost), lost=Count("pk", filter=lost))
    )
    return {source: (open, lost) for source, open, lost in gaps}
