"""Which homes a person may use: their own, and those of the teams that they are in.

The only place for this rule, which pages, feeds and the API share.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db.models import F

from trackers.roles import teams_of
from trackers.timelines.models import Follower


@dataclass(frozen=True, slots=True)
class Home:
    team_id: int | None  # None: the person's own
    name: str
    follower_id: int | None  # None: it never followed anything


def homes_of(user: AbstractBaseUser | AnonymousUser) -> list[Home]:
    """All homes that the person may read and change: their own, then their teams', by name."""
    mine = Follower.objects.filter(user=user.pk).values_list("pk", flat=True).first()
    theirs = teams_of(user).values_list("pk", "name", F("follower__pk"))
    return [Home(None, "Home", mine), *(Home(*team) for team in theirs)]


def may_use(user: AbstractBaseUser | AnonymousUser, follower_id: int) -> bool:
    """Whether this is one of the homes of the person."""
    return follower_id in {home.follower_id for home in homes_of(user)}


def follower_of(home: Home, user: AbstractBaseUser | AnonymousUser) -> int:
    """The home's follower, created when first needed."""
    if home.follower_id is not None:
        return home.follower_id
    who = {"team_id": home.team_id} if home.team_id else {"user_id": user.pk}
    return Follower.objects.get_or_create(**who)[0].pk


def own(user: User) -> Follower:
    """The person's own follower, created when first needed."""
    return Follower.objects.get_or_create(user=user)[0]
