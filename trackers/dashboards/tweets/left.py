"""What is left of the tweets, or of those of an import or a tag: by year and what X last said.

From counts that are kept where a tweet's state changes; no tweet is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.text import capfirst
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.exports import as_file
from trackers.dashboards.words import commas
from trackers.ingest.files.lookups import lookups_of
from trackers.ingest.files.models import Import
from trackers.listing.query import parse_id
from trackers.standbys.requests import on_standby
from trackers.tweets.lookups import Lookups
from trackers.tweets.presence import Presence, Presences, presences
from trackers.tweets.tags.lookups import lookups_of_tag
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import find_tag
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
@on_standby
def what_is_left(request: HttpRequest) -> HttpResponse:
    of = _asked_for(request)
    lookups = _lookups_of(of)
    counts = lookups.presences if lookups else None if of else presences()
    context = {
        "report": of if isinstance(of, Import) else None,
        "tag": of if isinstance(of, Tag) else None,
        "left": None if counts is None else _left(counts, _filter_of(of)),
        "counted_at": lookups.at if lookups else None,
        "now": timezone.now(),
        "exports_query": urlencode(_filter_of(of)),
    }
    return render(request, "dashboards/tweets/left.html", context)


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def presences_file(request: HttpRequest, form: str) -> HttpResponseBase:
    of = _asked_for(request)
    lookups = _lookups_of(of)
    counts = lookups.presences if lookups else {} if of else presences()
    words = ("what-is-left", *(f"{filter}-{of.pk}" for filter in _filter_of(of) if of))
    return as_file(request, Table("-".join(words), _COLUMNS, _table_rows(counts)), form)


def _asked_for(request: HttpRequest) -> Import | Tag | None:
    """The import or the tag that the address asks for, if any; 404 if there is none."""
    if {"source", "tag"} <= request.GET.keys():
        raise Http404("What is left is counted by import or by tag, not by both at once.")
    if "tag" in request.GET:
        if tag := find_tag(request.GET["tag"]):
            return tag
        raise Http404("There is no such tag, or no longer.")
    if "source" not in request.GET:
        return None
    id = parse_id(request.GET["source"])
    report = Import.objects.select_related("source").filter(pk=id).first() if id else None
    if report is None:
        raise Http404("There is no such import. Files are imported under Sources.")
    return report


def _lookups_of(of: Import | Tag | None) -> Lookups | None:
    """None also while its tweets are not counted yet."""
    if isinstance(of, Tag):
        return lookups_of_tag(of)
    return lookups_of(of) if of else None


def _filter_of(of: Import | Tag | None) -> dict[str, str]:
    """By which the list of tweets shows just those."""
    if isinstance(of, Tag):
        return {"tag": of.name}
    return {"source": str(of.pk)} if of else {}


def _left(counts: Presences, filter: Mapping[str, str]) -> Left:
    totals: Counter[str] = Counter()
    for by_name in counts.values():
        totals.update(by_name)
    names = [name for name in Presence if totals[name]]
    newest_first = sorted(counts, reverse=True)
    years = [_year_row(year, counts[year], names, filter) for year in newest_first]
    asked = totals.total() - totals[Presence.UNASKED]
    return Left(
        headings=tuple(capfirst(name.label) for name in names),
        rows=(_year_row(None, totals, names, filter), *years),
        asked=asked,
        shown=totals[Presence.SHOWN],
        unasked=totals[Presence.UNASKED],
    )


def _year_row(
    year: int | None, by_name: Mapping[str, int], names: list[Presence], filter: Mapping[str, str]
) -> YearRow:
    """Of a year, or of all."""
    total = sum(by_name.values())
    asked = total - by_name.get(Presence.UNASKED, 0)

    def cell(name: Presence) -> PresenceCell:
        tweets = by_name.get(name, 0)
        share = "" if name is Presence.UNASKED else _share_in_words(tweets, asked)
        address = urlencode({"presence": name.value, **_posted_in(year), **filter})
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
