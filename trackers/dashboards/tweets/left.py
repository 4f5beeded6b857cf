"""What is left of the tweets, or of those of one import: by year, and by what X last said of them.

From counts that are kept where a tweet's state changes; no tweet is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.exports import as_file
from trackers.dashboards.words import commas
from trackers.ingest.files.lookups import lookups_of
from trackers.ingest.files.models import Import
from trackers.listing.query import parse_id
from trackers.tweets.presence import Presence, Presences, presences
from tweetwatch.tables import Column, Table

# Ids of before November 2010 carry no time.
_UNTIL = 2010
_COLUMNS = (
    Column("year", "text"), Column("presence", "text"), Column("tweets", "whole"),
    Column("share", "number"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PresenceCell:
    """How many, and their share of the tweets that X was asked about; empty of the others."""

    tweets: str
    share: str
    address: str


@dataclass(frozen=True, slots=True)
class YearRow:
    name: str
    tweets: str
    cells: tuple[PresenceCell, ...]


@dataclass(frozen=True, slots=True)
class Left:
    headings: tuple[str, ...]
    rows: tuple[YearRow, ...]
    asked: int
    shown: int
    unasked: int

    @property
    def sentence(self) -> str:
        if not self.asked:
            return "X was not asked about any of them yet."
        share = _share_in_words(self.shown, self.asked)
        asked, shown = commas(self.asked), commas(self.shown)
        return f"Of {asked} tweets that were looked up, X shows {shown}: {share}."


@require_safe
@needs(VIEW_TWEETS)
def what_is_left(request: HttpRequest) -> HttpResponse:
    report = _asked_import(request)
    counts = _presences_of(report)
    context = {
        "report": report,
        "left": None if counts is None else _left(counts, source=report.pk if report else None),
        "exports_query": urlencode({"source": report.pk}) if report else "",
    }
    return render(request, "dashboards/tweets/left.html", context)


@require_safe
@needs(VIEW_TWEETS)
def presences_file(request: HttpRequest, form: str) -> HttpResponseBase:
    report = _asked_import(request)
    name = f"what-is-left-{report.pk}" if report else "what-is-left"
    return as_file(request, Table(name, _COLUMNS, _table_rows(_presences_of(report) or {})), form)


def _asked_import(request: HttpRequest) -> Import | None:
    """The import that the address asks for, if any; 404 if it is none."""
    if "source" not in request.GET:
        return None
    id = parse_id(request.GET["source"])
    report = Import.objects.select_related("source").filter(pk=id).first() if id else None
    if report is None:
        raise Http404("There is no such import. What is left is counted for all, and by import.")
    return report


def _presences_of(report: Import | None) -> Presences | None:
    """None while an import's tweets are not counted yet."""
    if report is None:
        return presences()
    counted = lookups_of(report)
    return counted.presences if counted else None


def _left(counts: Presences, *, source: int | None) -> Left:
    totals: Counter[str] = Counter()
    for by_name in counts.values():
        totals.update(by_name)
    names = [name for name in Presence if totals[name]]
    newest_first = sorted(counts, reverse=True)
    years = [_year_row(year, counts[year], names, source) for year in newest_first]
    asked = totals.total() - totals[Presence.UNASKED]
    return Left(
        headings=tuple(name.label.capitalize() for name in names),
        rows=(_year_row(None, totals, names, source), *years),
        asked=asked,
        shown=totals[Presence.SHOWN],
        unasked=totals[Presence.UNASKED],
    )


def _year_row(
    year: int | None, by_name: Mapping[str, int], names: list[Presence], source: int | None
) -> YearRow:
    """Of a year, or of all."""
    total = sum(by_name.values())
    asked = total - by_name.get(Presence.UNASKED, 0)

    def cell(name: Presence) -> PresenceCell:
        tweets = by_name.get(name, 0)
        share = "" if name is Presence.UNASKED else _share_in_words(tweets, asked)
        of_source = {} if source is None else {"source": str(source)}
        address = urlencode({"presence": name.value, **_posted_in(year), **of_source})
        return PresenceCell(commas(tweets), share, address) if tweets else PresenceCell("", "", "")

    name = "All" if year is None else _year_name(year)
    return YearRow(name, commas(total), tuple(cell(name) for name in names))


def _year_name(year: int) -> str:
    return f"until {year}" if year <= _UNTIL else str(year)


def _posted_in(year: int | None) -> dict[str, str]:
    if year is None:
        return {}
    until = {"until": f"{year}-12-31"}
    return until if year <= _UNTIL else {"since": f"{year}-01-01", **until}


def _share_in_words(tweets: int, asked: int) -> str:
    return f"{100 * tweets / asked:.1f}%" if asked else ""


def _table_rows(counts: Presences) -> Iterator[tuple[str, str, int, float | None]]:
    for year, by_name in counts.items():
        asked = sum(by_name.values()) - by_name.get(Presence.UNASKED, 0)
        for name in Presence:
            if tweets := by_name.get(name, 0):
                is_asked = name is not Presence.UNASKED
                share = round(tweets / asked, 6) if is_asked else None
                yield _year_name(year), name.value, tweets, share
