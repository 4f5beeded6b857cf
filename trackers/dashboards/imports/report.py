"""An import in words: what its file looks like, how far it is, and the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.template.defaultfilters import filesizeformat

from trackers.dashboards.words import Moment, ago, counted, lasting
from trackers.ingest.files.importing import UNSTARTED_AFTER, failed_parts
from trackers.ingest.files.preview import FORMATS, preview
from trackers.ingest.found import Found, Rejected
from trackers.ingest.sources.imports import Import
from trackers.jobs.models import Worker

WORDS = 90


@dataclass(frozen=True, slots=True)
class Sight:
    """A tweet in the preview."""

    id: str
    words: str


@dataclass(frozen=True, slots=True)
class Column:
    number: int
    name: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person is asked before an import begins."""

    looks_like: str
    taken_from: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    tweets: tuple[Sight, ...]
    rejected: tuple[Rejected, ...]
    referenced: bool
    asks_referenced: bool
    keeps_for: str
    needs_column: bool


@dataclass(frozen=True, slots=True)
class LineCount:
    label: str
    value: str
    exact: int


@dataclass(frozen=True, slots=True)
class Progress:
    """`state`: uploading, waiting, running or done. `percent` is of the parts."""

    state: str
    size: str
    format: str
    parts: int
    done: int
    percent: int
    left: str
    took: str
    rate: str
    figures: tuple[LineCount, ...]
    uploaded: Moment | None
    began: Moment | None
    ended: Moment | None
    failed: int
    no_worker: bool
    found_nothing: bool


def progress(report: Import, *, now: datetime) -> Progress:
    state = state_of(report)
    spent = (report.ended_at or now) - report.began_at if report.began_at else None
    seconds = spent.total_seconds() if spent else 0
    is_running = state == "running"
    left = ""
    if is_running and spent and report.parts_done:
        left = lasting(spent * (report.parts - report.parts_done) / report.parts_done)
    return Progress(
        state=state,
        size=filesizeformat(report.bytes),
        format=FORMATS.get(report.format, report.format),
        parts=report.parts,
        done=report.parts_done,
        percent=report.parts_done * 100 // max(report.parts, 1),
        left=left,
        took=lasting(spent) if spent else "",
        rate=f"{report.read / seconds:,.0f}" if seconds >= 1 else "",
        figures=tuple(
            LineCount(name.capitalize(), counted(getattr(report, name)), getattr(report, name))
            for name in ("read", "tracked", "already", "rejected")
        ),
        uploaded=ago(report.uploaded_at, now=now) if report.uploaded_at else None,
        began=ago(report.began_at, now=now) if report.began_at else None,
        ended=ago(report.ended_at, now=now) if report.ended_at else None,
        failed=len(failed_parts(report)) if is_running else 0,
        no_worker=is_running and not Worker.objects.alive(now=now).exists(),
        found_nothing=state == "done" and not report.tracked and not report.already,
    )


def state_of(report: Import) -> str:
    if report.uploaded_at is None:
        return "uploading"
    if report.began_at is None:
        return "waiting"
    return "running" if report.ended_at is None else "done"


def choice(report: Import, *, column: int | None, referenced: bool) -> Choice:
    seen = preview(report, column=column, referenced=referenced)
    columns = tuple(
        Column(number, name, number == column) for number, name in enumerate(seen.columns, start=1)
    )
    chosen = next((one.name for one in columns if one.is_chosen), "")
    return Choice(
        looks_like=FORMATS.get(report.format, report.format),
        taken_from=chosen,
        columns=columns,
        rows=seen.rows,
        tweets=tuple(sight(one) for one in seen.tweets),
        rejected=seen.rejected,
        referenced=referenced,
        asks_referenced=report.format in ("json", "jsonl"),
        keeps_for=lasting(UNSTARTED_AFTER),
        needs_column=bool(columns) and not chosen,
    )


def sight(one: Found) -> Sight:
    words = (one.post.text or "") if one.post else ""
    return Sight(str(one.id), f"{words[:WORDS]}…" if len(words) > WORDS else words)
