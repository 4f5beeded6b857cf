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

from trackers.dashboards.access import VIEW_SOURCES as VIEW_SOURCES
from trackers.dashboards.access import needs
from trackers.dashboards.exports import send_if_free
from trackers.dashboards.following import follow_rows
from trackers.dashboards.following.follow_rows import (
    FIRST_KEY,
    FOLLOWS_PER_PAGE,
    FollowKey,
    FollowRow,
)
from trackers.dashboards.homes import home_of_team
from trackers.ingest.sources.models import Source
from trackers.schedule.intervals import current
from trackers.timelines.followers import Home, homes_of
from trackers.timelines.models import Follow
from tweetwatch.csv_lines import Echo

_EVERYONE, _ALL_SOURCES = "all", "sources"


@dataclass(frozen=True, slots=True)
class FollowingQuery:
    who: str  # me, a team's id, all, or sources, to choose from
    of: int | None
    home: Home | None

    def address(self, **more: object) -> str:
        return urlencode({"who": self.who, **({"of": self.of} if self.of else {}), **more})


@require_safe
@needs(VIEW_SOURCES)
def following(request: HttpRequest) -> HttpResponse:
    now, _ = current()
    homes = homes_of(request.user)
    wanted = _parse_following(request, homes)
    key = FollowKey.of(request.GET["after"]) if request.GET.get("after") else FIRST_KEY
    rows: list[FollowRow]
    if wanted.who == _ALL_SOURCES:
        chosen_from = Source.objects.filter(pk__gt=max(key.origin, 0)).order_by("pk")
        sources = list(chosen_from[: FOLLOWS_PER_PAGE + 1])
        rows, more = (
            follow_rows.rows_of_sources(sources[:FOLLOWS_PER_PAGE], homes),
            len(sources) > FOLLOWS_PER_PAGE,
        )
        end = FollowKey(sources[FOLLOWS_PER_PAGE - 1].pk, 0) if more else None
    else:
        follows_read = list(
            follow_rows.after_key(_follows_for(wanted), key)[: FOLLOWS_PER_PAGE + 1]
        )
        rows, more = (
            follow_rows.rows_of_follows(follows_read[:FOLLOWS_PER_PAGE], homes, now=now),
            len(follows_read) > FOLLOWS_PER_PAGE,
        )
        end = (
            FollowKey(
                follows_read[FOLLOWS_PER_PAGE - 1].origin_id,
                follows_read[FOLLOWS_PER_PAGE - 1].follower_id,
            )
            if more
            else None
        )
    tabs = [(str(home.team_id or "me"), home.name if home.team_id else "You") for home in homes]
    return render(
        request,
        "dashboards/following/page.html",
        {
            "now": now,
            "wanted": wanted,
            "tabs": [*tabs, (_EVERYONE, "Everyone"), (_ALL_SOURCES, "All sources")],
            "rows": rows,
            "first": wanted.address() if key != FIRST_KEY else "",
            "next": wanted.address(after=end) if end else "",
            "csv": wanted.address(),
        },
    )


@require_safe
@needs(VIEW_SOURCES)
def follows_csv(request: HttpRequest) -> HttpResponseBase:
    wanted = _parse_following(request, homes_of(request.user))
    if wanted.who == _ALL_SOURCES:
        raise Http404("The list of sources cannot be downloaded here.")
    writer = csv.writer(Echo(), lineterminator="\n")
    lines = (writer.writerow(line) for line in follow_rows.csv_rows(_follows_for(wanted)))

    def answer() -> StreamingHttpResponse:
        return StreamingHttpResponse(
            lines,
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": 'attachment; filename="follows.csv"'},
        )

    return send_if_free(request, answer)


def _follows_for(wanted: FollowingQuery) -> QuerySet[Follow]:
    whose = wanted.home.follower_id if wanted.home else None
    return follow_rows.follows(whose, everyone=wanted.home is None, of=wanted.of)


def _parse_following(request: HttpRequest, homes: list[Home]) -> FollowingQuery:
    who, of = request.GET.get("who", "me"), request.GET.get("of", "")
    origin = FollowKey.of(of).origin if of else None
    if who in (_EVERYONE, _ALL_SOURCES):
        return FollowingQuery(who, origin, None)
    if who != "me" and not (who.isascii() and who.isdecimal()):
        raise Http404(f"There is no list {who[:80]!r}.")
    return FollowingQuery(who, origin, home_of_team(homes, None if who == "me" else int(who)))
