"""Whether everything is paused, by whom and since when: a line at the head of every page."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from trackers.dashboards.words import Moment, ago
from trackers.jobs.pausing import paused_all
from trackers.schedule.intervals import current


@dataclass(frozen=True, slots=True)
class PauseLine:
    by: str
    because: str
    since: Moment


def pause_line(_request: HttpRequest) -> dict[str, object]:
    """For templates. Asked of the database only by those that show it."""
    return {"pause_line": SimpleLazyObject(_read_pause_line)}


def _read_pause_line() -> PauseLine | None:
    row = paused_all()
    if row is None:
        return None
    now, _ = current()
    return PauseLine(row.by, row.because, ago(row.since, now=now))
