"""Homes on pages: which one is meant, its address, and its buttons to follow and unfollow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.urls import reverse

from trackers.roles import teams
from trackers.timelines.followers import Home, homes_of
from trackers.timelines.models import Follow

User = AbstractBaseUser | AnonymousUser


def home_of(user: User, team: int | None) -> Home:
    """404 if there is no such team, 403 if the person is not a member of it."""
    return home_of_team(homes_of(user), team)


def home_of_team(homes: list[Home], team: int | None) -> Home:
    for home in homes:
        if home.team_id == team:
            return home
    if team is not None and teams().filter(pk=team).exists():
        raise PermissionDenied(
            "Only members of this team see its home. An administrator can add you to the group in "
            "the admin, under Users."
        )
    raise Http404(f"There is no team {team}.")


def home_address(team_id: int | None) -> str:
    """The address of a team's home, or of the person's own."""
    return reverse("home", args=[team_id] if team_id else [])


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
