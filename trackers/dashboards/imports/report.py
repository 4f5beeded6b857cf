"""An import in words: what its file looks like, how far it is, and the outcome."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime

from django.template.defaultfilters import filesizeformat

from trackers.dashboards.words import lasting
from trackers.ingest.files.cost import LookupCost, cost_of_lookups
from trackers.ingest.files.importing import UNSTARTED_AFTER, failed_parts
from trackers.ingest.files.limits import Limits, Taken, size
from trackers.ingest.files.lookups import lookups_of
from trackers.ingest.files.models import Import
from trackers.ingest.files.preview import has_accounts, has_counts, preview, tweets_to_look_up
from trackers.ingest.files.recognise import FORMATS
from trackers.ingest.found_tweets import FoundTweet, Options
from trackers.jobs.observed.models import Worker
from trackers.tweets.lookups import Lookups
from tweetwatch.amounts import amount

MAX_BAD_LINES = 100
_MAX_FILES_NAMED = 20

# Of figures whose name does not say it.
_COUNT_LABELS = {"already": "Already tracked"}


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that was rejected, or has a warning."""

    file: str  # its name, of several
    line: int
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class PreviewColumn:
    number: int
    name: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """What a person is asked before an import begins."""

    looks_like: str
    taken_from: str
    columns: tuple[PreviewColumn, ...]
    rows: tuple[tuple[str, ...], ...]
    tweets: tuple[FoundTweet, ...]
    rejected: tuple[BadLine, ...]
    warned: tuple[BadLine, ...]
    referenced: bool
    asks_referenced: bool
    keeps_for: str
    needs_column: bool
    doubt: str
    cost: LookupCost
    measured_at: str
    anyway: bool
    asks_anyway: bool
    asks_measured_at: bool

    @property
    def dated(self) -> int | None:
        """The number of the column that dates the counts of a table, if one is chosen."""
        return int(self.measured_at) if self.columns and self.measured_at else None


@dataclass(frozen=True, slots=True)
class ImportProgress:
    state: str  # uploading, waiting, running or done
    inside: str  # how much is in it
    most: str  # how much may be in it
    near: str  # a sentence when there is little between the two
    files: tuple[str, ...]
    more_files: int
    format: str
    percent: int  # of the parts
    left: str
    took: str
    rate: str
    figures: tuple[tuple[str, int], ...]
    failed: int
    no_worker: bool
    found_nothing: bool
    lookups: Lookups | None  # what X says of its tweets, once it is done

    @property
    def of(self) -> dict[str, int]:
        """How many tweets X said what of."""
        names = ("shown", "not_found", "waiting", "dated", "paused")
        return {name: self.lookups.of(name) for name in names} if self.lookups else {}

    @property
    def is_followed(self) -> bool:
        """Whether the page brings itself up to date."""
        if self.state in ("running", "uploading"):
            return True
        return self.state == "done" and (self.lookups is None or not self.lookups.is_over)


def import_progress(report: Import, limits: Limits, *, now: datetime) -> ImportProgress:
    state = _import_state(report)
    spent = (report.ended_at or now) - report.began_at if report.began_at else None
    seconds = spent.total_seconds() if spent else 0
    is_running = state == "running"
    left = ""
    if is_running and spent and report.parts_done:
        left = lasting(spent * (report.parts - report.parts_done) / report.parts_done)
    return ImportProgress(
        state=state,
        inside=_contents_text(report),
        most=f"{limits.lines:,} lines and {size(limits.bytes)}",
        near=limits.near(Taken(report.unpacked, report.lines)),
        files=tuple(name for name, _ in report.files[:_MAX_FILES_NAMED]),
        more_files=max(0, len(report.files) - _MAX_FILES_NAMED),
        format=FORMATS.get(report.format, report.format),
        percent=report.parts_done * 100 // max(report.parts, 1),
        left=left,
        took=("" if not spent else lasting(spent) if seconds >= 1 else "less than a second"),
        rate=f"{report.read / seconds:,.0f}" if seconds >= 1 else "",
        figures=tuple(
            (_COUNT_LABELS.get(name, name.capitalize()), getattr(report, name))
            for name in ("read", "tracked", "already", "rejected", "warnings")
            if name != "warnings" or report.warnings
        ),
        failed=len(failed_parts(report)) if is_running else 0,
        no_worker=is_running and not Worker.objects.alive(now=now).exists(),
        found_nothing=state == "done" and not report.tracked and not report.already,
        lookups=lookups_of(report) if state == "done" else None,
    )


def _contents_text(report: Import) -> str:
    """Lines, and the bytes where it was packed; empty where nobody counted them."""
    if not report.lines:
        return ""
    lines = amount(report.lines, "line")
    if report.unpacked > report.bytes:
        return f"{filesizeformat(report.unpacked)} unpacked, {lines}"
    return lines


def bad_lines(report: Import, *, tracked: bool) -> list[BadLine]:
    """The first of those that are kept; `tracked`: the warnings."""
    kept = report.source.rejected_lines.filter(tracked=tracked)[:MAX_BAD_LINES]
    return [BadLine(*line_place(report, line.line), line.text, line.why) for line in kept]


def line_place(report: Import, line: int) -> tuple[str, int]:
    """Of an archive, whose lines are numbered throughout: the file, and the line's number in it."""
    place = bisect_right([first for _, first in report.files], line) - 1
    if place < 0:
        return "", line
    name, first = report.files[place]
    return name, line - first + 1


def _import_state(report: Import) -> str:
    if report.uploaded_at is None:
        return "uploading"
    if report.began_at is None:
        return "waiting"
    return "running" if report.ended_at is None else "done"


def import_preview(
    report: Import, *, column: int | None, referenced: bool, chosen: Options
) -> ImportPreview:
    seen = preview(report, column=column, referenced=referenced, chosen=chosen)
    lookups = tweets_to_look_up(report, column=column, referenced=referenced, chosen=chosen)
    columns = tuple(
        PreviewColumn(number, name, number == column)
        for number, name in enumerate(seen.columns, start=1)
    )
    taken_from = next((item.name for item in columns if item.is_chosen), "")
    return ImportPreview(
        looks_like=FORMATS.get(report.format, report.format),
        taken_from=taken_from,
        columns=columns,
        rows=seen.rows,
        tweets=tuple(seen.tweets),
        rejected=tuple(
            BadLine(*line_place(report, item.line), item.text, item.why) for item in seen.rejected
        ),
        warned=tuple(
            BadLine(*line_place(report, item.line), item.text, item.odd)
            for item in seen.tweets
            if item.odd
        ),
        referenced=referenced,
        asks_referenced=report.format in ("json", "jsonl"),
        keeps_for=f"{UNSTARTED_AFTER.days} days",
        needs_column=bool(columns) and not taken_from,
        doubt=seen.doubt,
        cost=cost_of_lookups(lookups),
        measured_at=chosen.measured_at or "",
        anyway=chosen.anyway,
        asks_anyway=has_accounts(report),
        asks_measured_at=has_counts(report),
    )
