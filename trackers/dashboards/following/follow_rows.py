"""Keyset pages of follows, and of sources to follow: the last is as fast as the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.http import Http404
from django.urls import reverse

from trackers.dashboards.follow_buttons import Button, buttons
from trackers.dashboards.words import Moment, ago
from trackers.ingest.sources.models import Source
from trackers.timelines.followers import Home
from trackers.timelines.models import Follow
from trackers.tweets.models import Author
from tweetwatch.csv_lines import without_formula

FOLLOWS_PER_PAGE = 100


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
FIRST_KEY = FollowKey(-(2**63), 0)


def follows(follower_id: int | None, *, everyone: bool, of: int | None) -> QuerySet[Follow]:
    """In key order: of one follower, of everyone, or of all who follow one origin."""
    rows = Follow.objects.select_related("follower__user", "follower__team")
    rows = rows.order_by("origin_id", "follower_id")
    if not everyone:
        rows = rows.filter(follower_id=follower_id or 0)
    return rows if of is None else rows.filter(origin_id=of)


def after_key(follows: QuerySet[Follow], key: FollowKey) -> QuerySet[Follow]:
    # The condition on origin_id is there so that the index is entered at the key, not at its start.
    after = Q(origin_id__gt=key.origin) | Q(follower_id__gt=key.follower)
    return follows.filter(after, origin_id__gte=key.origin)


def rows_of_follows(
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


def rows_of_sources(sources: Sequence[Source], homes: Sequence[Home]) -> list[FollowRow]:
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


def csv_rows(follows: QuerySet[Follow]) -> Iterator[tuple[str, ...]]:
    yield ("follower", "who", "kind", "id", "follows", "since")
    key = FIRST_KEY
    while some := list(after_key(follows, key)[:FOLLOWS_PER_PAGE]):
        key = FollowKey(some[-1].origin_id, some[-1].follower_id)
        names = _describe_origins(follow.origin_id for follow in some)
        for follow in some:
            name, kind, _ = names[follow.origin_id]
            who = "person" if follow.follower.user_id else "team"
            yield (
                without_formula(str(follow.follower)),
                who,
                kind,
                str(abs(follow.origin_id)),
                without_formula(name),
                follow.followed_at.isoformat(),
            )
