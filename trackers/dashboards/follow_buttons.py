"""Buttons that follow and unfollow, one for each home of a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trackers.dashboards.homes import User
from trackers.timelines.followers import Home, homes_of
from trackers.timelines.models import Follow


@dataclass(frozen=True, slots=True)
class Button:
    act: str  # follow, or unfollow if already followed
    words: str
    what: str  # source or author
    id: int
    team: str  # as in a form, empty for the person's own home


def buttons_for(
    user: User, *, source_id: int | None = None, author_id: int | None = None
) -> list[Button]:
    """For the page of a source, or of a tweet by this author."""
    origin = source_id if source_id is not None else -(author_id or 0)
    return buttons(homes_of(user), [origin])[origin]


def buttons(homes: Sequence[Home], origins: Iterable[int]) -> dict[int, list[Button]]:
    """For each of the origins, in one query."""
    wanted = list(origins)
    followers = [one.follower_id for one in homes if one.follower_id is not None]
    rows = Follow.objects.filter(follower_id__in=followers, origin_id__in=wanted)
    followed = set(rows.values_list("follower_id", "origin_id"))
    return {
        origin: [_button(home, origin, (home.follower_id, origin) in followed) for home in homes]
        for origin in wanted
    }


def _button(home: Home, origin: int, is_followed: bool) -> Button:
    act = "unfollow" if is_followed else "follow"
    return Button(
        act,
        f"{act.capitalize()} for {home.name}" if home.team_id else act.capitalize(),
        "source" if origin > 0 else "author",
        abs(origin),
        str(home.team_id or ""),
    )
