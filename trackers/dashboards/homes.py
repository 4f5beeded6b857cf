"""Pages of homes: which one is meant, and its address."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.urls import reverse

from trackers.timelines.followers import Home, homes_of, teams

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
