"""The page "Following": what a person and their teams follow, who follows what, and all sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_SOURCES, needs
from trackers.dashboards.exports import as_file
from trackers.dashboards.homes import Button, buttons, home_of_team
from trackers.dashboards.words import Moment, ago
from trackers.ingest.sources.models import Source
from trackers.schedule.intervals import current
from trackers.timelines.followers import Home, homes_of
from trackers.timelines.models import Follow
from trackers.tweets.models import Author
from tweetwatch.tables import Column, Table

_EVERYONE, _ALL_SOURCES = "all", "sources"
_FOLLOWS_PER_PAGE = 100
# More are no number of ours, and Python refuses to read thousands.
_MAX_DIGITS = 18
_FOLLOW_COLUMNS = (
    Column("follower", "text"), Column("who", "text"), Column("kind", "text"), Column("id", "id"),
    Column("follows", "text"), Column("since", "time"),
)  # fmt: skip


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
    key = FollowKey.of(request.GET["after"]) if request.GET.get("after") else _FIRST_KEY
    rows: list[FollowRow]
    if wanted.who == _ALL_SOURCES:
        chosen_from = Source.objects.filter(pk__gt=max(key.origin, 0)).order_by("pk")
        sources = list(chosen_from[: _FOLLOWS_PER_PAGE + 1])
        rows, more = (
            _rows_of_sources(sources[:_FOLLOWS_PER_PAGE], homes),
            len(sources) > _FOLLOWS_PER_PAGE,
        )
        end = FollowKey(sources[_FOLLOWS_PER_PAGE - 1].pk, 0) if more else None
    else:
        follows_read = list(_after_key(_follows_for(wanted), key)[: _FOLLOWS_PER_PAGE + 1])
        rows, more = (
            _rows_of_follows(follows_read[:_FOLLOWS_PER_PAGE], homes, now=now),
            len(follows_read) > _FOLLOWS_PER_PAGE,
        )
        end = (
            FollowKey(
                follows_read[_FOLLOWS_PER_PAGE - 1].origin_id,
                follows_read[_FOLLOWS_PER_PAGE - 1].follower_id,
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
            "first": wanted.address() if key != _FIRST_KEY else "",
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
    table = Table(f"follows {wanted.who}", _FOLLOW_COLUMNS, _follow_rows(_follows_for(wanted)))
    return as_file(request, table, "csv")


def _follows_for(wanted: FollowingQuery) -> QuerySet[Follow]:
    whose = wanted.home.follower_id if wanted.home else None
    return _follows(whose, everyone=wanted.home is None, of=wanted.of)


def _parse_following(request: HttpRequest, homes: list[Home]) -> FollowingQuery:
    who, of = request.GET.get("who", "me"), request.GET.get("of", "")
    origin = FollowKey.of(of).origin if of else None
    if who in (_EVERYONE, _ALL_SOURCES):
        return FollowingQuery(who, origin, None)
    if who != "me" and not (who.isascii() and who.isdecimal() and len(who) <= _MAX_DIGITS):
        raise Http404(f"There is no list {who[:80]!r}.")
    return FollowingQuery(who, origin, home_of_team(homes, None if who == "me" else int(who)))


@dataclass(frozen=True, slots=True)
class FollowRow:
    """What is followed, by whom and since when; for a source to choose both are empty."""

    origin: int
    name: str
    kind: str
    address: str
    who: str
    since: Moment | None
    buttons: list[Button]


@dataclass(frozen=True, slots=True)
class FollowKey:
    """A page of follows begins after this key."""

    origin: int
    follower: int

    @classmethod
    def of(cls, text: str) -> FollowKey:
        origin, _, follower = text.partition(":")
        try:
            return cls(int(origin[:20]), int(follower[:20] or 0))
        except ValueError:
            raise Http404(f"{text[:80]!r} is not a place in this list.") from None

    def __str__(self) -> str:
        return f"{self.origin}:{self.follower}"


# Below every id, so that all come after it.
_FIRST_KEY = FollowKey(-(2**63), 0)


def _follows(follower_id: int | None, *, everyone: bool, of: int | None) -> QuerySet[Follow]:
    """In key order: of one follower, of everyone, or of all who follow one origin."""
    rows = Follow.objects.select_related("follower__user", "follower__team")
    rows = rows.order_by("origin_id", "follower_id")
    if not everyone:
        rows = rows.filter(follower_id=follower_id or 0)
    return rows if of is None else rows.filter(origin_id=of)


def _after_key(follows: QuerySet[Follow], key: FollowKey) -> QuerySet[Follow]:
    # The condition on origin_id is there so that the index is entered at the key, not at its start.
    after = Q(origin_id__gt=key.origin) | Q(follower_id__gt=key.follower)
    return follows.filter(after, origin_id__gte=key.origin)


def _rows_of_follows(
    follows: Sequence[Follow], homes: Sequence[Home], *, now: datetime
) -> list[FollowRow]:
    names = _describe_origins(follow.origin_id for follow in follows)
    mine = buttons(homes, {follow.origin_id for follow in follows})
    teams = {home.follower_id: str(home.team_id or "") for home in homes}
    return [
        FollowRow(
            follow.origin_id,
            *names[follow.origin_id],
            who=str(follow.follower),
            since=ago(follow.followed_at, now=now),
            # For the follower of this line, if the person may act for it.
            buttons=[b for b in mine[follow.origin_id] if b.team == teams.get(follow.follower_id)],
        )
        for follow in follows
    ]


def _rows_of_sources(sources: Sequence[Source], homes: Sequence[Home]) -> list[FollowRow]:
    mine = buttons(homes, (source.pk for source in sources))
    return [
        FollowRow(source.pk, *_describe_source(source), who="", since=None, buttons=mine[source.pk])
        for source in sources
    ]


def _describe_origins(origins: Iterable[int]) -> dict[int, tuple[str, str, str]]:
    """Name, kind and address of each."""
    wanted = set(origins)
    brought = Source.objects.in_bulk([origin for origin in wanted if origin > 0])
    authors = Author.objects.in_bulk([-origin for origin in wanted if origin < 0])
    return {
        origin: _describe_source(brought[origin])
        if origin in brought
        else (str(authors.get(-origin, f"source {origin}" if origin > 0 else f"author {-origin}")),
              "An account" if origin < 0 else "A removed source",
              reverse("author", args=[-origin]) if -origin in authors else "")
        for origin in wanted
    }  # fmt: skip


def _describe_source(source: Source) -> tuple[str, str, str]:
    return str(source), source.get_kind_display(), reverse("source", args=[source.pk])


def _follow_rows(follows: QuerySet[Follow]) -> Iterator[tuple[object, ...]]:
    key = _FIRST_KEY
    while some := list(_after_key(follows, key)[:_FOLLOWS_PER_PAGE]):
        key = FollowKey(some[-1].origin_id, some[-1].follower_id)
        names = _describe_origins(follow.origin_id for follow in some)
        for follow in some:
            name, kind, _ = names[follow.origin_id]
            who = "person" if follow.follower.user_id else "team"
            id = abs(follow.origin_id)
            yield str(follow.follower), who, kind, id, name, follow.followed_at
