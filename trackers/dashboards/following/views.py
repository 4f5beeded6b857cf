"""The page "Following": what a person and their teams follow, who follows what, and all sources."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    StreamingHttpResponse,
)
from django.shortcuts import render
from django.views.decorators.http import require_safe

from trackers.dashboards.access import SOURCES as VIEW_SOURCES
from trackers.dashboards.access import needs
from trackers.dashboards.exports import in_turn
from trackers.dashboards.following import listed
from trackers.dashboards.following.listed import PAGE, THE_FIRST, Key, Line
from trackers.dashboards.homes import chosen
from trackers.ingest.sources.models import Source
from trackers.schedule.intervals import current
from trackers.timelines.followers import Home, homes_of
from trackers.timelines.models import Follow
from tweetwatch.csv_lines import Echo

EVERYONE, SOURCES = "all", "sources"


@dataclass(frozen=True, slots=True)
class Asked:
    """`who`: me, a team's id, all, or sources, to choose from."""

    who: str
    of: int | None
    home: Home | None

    def address(self, **more: object) -> str:
        return urlencode({"who": self.who, **({"of": self.of} if self.of else {}), **more})


@require_safe
@needs(VIEW_SOURCES)
def following(request: HttpRequest) -> HttpResponse:
    now, _ = current()
    homes = homes_of(request.user)
    wanted = asked(request, homes)
    key = Key.of(request.GET["after"]) if request.GET.get("after") else THE_FIRST
    rows: list[Line]
    if wanted.who == SOURCES:
        chosen_from = Source.objects.filter(pk__gt=max(key.origin, 0)).order_by("pk")
        sources = list(chosen_from[: PAGE + 1])
        rows, more = listed.sources(sources[:PAGE], homes), len(sources) > PAGE
        end = Key(sources[PAGE - 1].pk, 0) if more else None
    else:
        found = list(listed.behind(follows(wanted), key)[: PAGE + 1])
        rows, more = listed.lines(found[:PAGE], homes, now=now), len(found) > PAGE
        end = Key(found[PAGE - 1].origin_id, found[PAGE - 1].follower_id) if more else None
    tabs = [(str(home.team_id or "me"), home.name if home.team_id else "You") for home in homes]
    return render(
        request,
        "dashboards/following/page.html",
        {
            "now": now,
            "wanted": wanted,
            "tabs": [*tabs, (EVERYONE, "Everyone"), (SOURCES, "All sources")],
            "rows": rows,
            "first": wanted.address() if key != THE_FIRST else "",
            "next": wanted.address(after=end) if end else "",
            "csv": wanted.address(),
        },
    )


@require_safe
@needs(VIEW_SOURCES)
def follows_csv(request: HttpRequest) -> HttpResponseBase:
    wanted = asked(request, homes_of(request.user))
    if wanted.who == SOURCES:
        raise Http404("The list of sources cannot be downloaded here.")
    writer = csv.writer(Echo(), lineterminator="\n")
    lines = (writer.writerow(line) for line in listed.in_csv(follows(wanted)))

    def answer() -> StreamingHttpResponse:
        return StreamingHttpResponse(
            lines,
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": 'attachment; filename="follows.csv"'},
        )

    return in_turn(request, answer)


def follows(wanted: Asked) -> QuerySet[Follow]:
    whose = wanted.home.follower_id if wanted.home else None
    return listed.follows(whose, everyone=wanted.home is None, of=wanted.of)


def asked(request: HttpRequest, homes: list[Home]) -> Asked:
    who, of = request.GET.get("who", "me"), request.GET.get("of", "")
    origin = Key.of(of).origin if of else None
    if who in (EVERYONE, SOURCES):
        return Asked(who, origin, None)
    if who != "me" and not (who.isascii() and who.isdecimal()):
        raise Http404(f"There is no list {who[:80]!r}.")
    return Asked(who, origin, chosen(homes, None if who == "me" else int(who)))
