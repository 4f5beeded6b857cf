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
from tweetwatch.csv_lines import harmless

PAGE = 100


@dataclass(frozen=True, slots=True)
class Line:
    """What is followed, by whom and since when; for a source to choose both are empty."""

    origin: int
    name: str
    kind: str
    address: str
    who: str
    since: Moment | None
    buttons: list[Button]


@dataclass(frozen=True, slots=True)
class Key:
    """A page of follows begins after this key."""

    origin: int
    follower: int

    @classmethod
    def of(cls, text: str) -> Key:
        origin, _, follower = text.partition(":")
        try:
            return cls(int(origin[:20]), int(follower[:20] or 0))
        except ValueError:
            raise Http404(f"{text[:80]!r} is not a place in this list.") from None

    def __str__(self) -> str:
        return f"{self.origin}:{self.follower}"


# Below every id, so that all come after it.
THE_FIRST = Key(-(2**63), 0)


def follows(follower_id: int | None, *, everyone: bool, of: int | None) -> QuerySet[Follow]:
    """In key order: of one follower, of everyone, or of all who follow one origin."""
    found = Follow.objects.select_related("follower__user", "follower__team")
    found = found.order_by("origin_id", "follower_id")
    if not everyone:
        found = found.filter(follower_id=follower_id or 0)
    return found if of is None else found.filter(origin_id=of)


def behind(found: QuerySet[Follow], key: Key) -> QuerySet[Follow]:
    # The condition on origin_id is there so that the index is entered at the key, not at its start.
    after = Q(origin_id__gt=key.origin) | Q(follower_id__gt=key.follower)
    return found.filter(after, origin_id__gte=key.origin)


def lines(found: Sequence[Follow], homes: Sequence[Home], *, now: datetime) -> list[Line]:
    names = named(one.origin_id for one in found)
    mine = buttons(homes, {one.origin_id for one in found})
    teams = {home.follower_id: str(home.team_id or "") for home in homes}
    return [
        Line(
            one.origin_id,
            *names[one.origin_id],
            who=str(one.follower),
            since=ago(one.followed_at, now=now),
            # For the follower of this line, if the person may act for it.
            buttons=[b for b in mine[one.origin_id] if b.team == teams.get(one.follower_id)],
        )
        for one in found
    ]


def sources(found: Sequence[Source], homes: Sequence[Home]) -> list[Line]:
    mine = buttons(homes, (one.pk for one in found))
    return [Line(one.pk, *told(one), who="", since=None, buttons=mine[one.pk]) for one in found]


def named(origins: Iterable[int]) -> dict[int, tuple[str, str, str]]:
    """Name, kind and address of each."""
    wanted = set(origins)
    brought = Source.objects.in_bulk([one for one in wanted if one > 0])
    authors = Author.objects.in_bulk([-one for one in wanted if one < 0])
    return {
        one: told(brought[one])
        if one in brought
        else (str(authors.get(-one, f"source {one}" if one > 0 else f"author {-one}")),
              "An account" if one < 0 else "A removed source",
              reverse("author", args=[-one]) if -one in authors else "")
        for one in wanted
    }  # fmt: skip


def told(source: Source) -> tuple[str, str, str]:
    return str(source), source.get_kind_display(), reverse("source", args=[source.pk])


def in_csv(found: QuerySet[Follow]) -> Iterator[tuple[str, ...]]:
    yield ("follower", "who", "kind", "id", "follows", "since")
    key = THE_FIRST
    while some := list(behind(found, key)[:PAGE]):
        key = Key(some[-1].origin_id, some[-1].follower_id)
        names = named(one.origin_id for one in some)
        for one in some:
            name, kind, _ = names[one.origin_id]
            who = "person" if one.follower.user_id else "team"
            yield (
                harmless(str(one.follower)), who, kind, str(abs(one.origin_id)), harmless(name),
                one.followed_at.isoformat(),
            )  # fmt: skip
