"""Which homes a person may use: their own, and those of the teams that they are in.

The only place for this rule, which pages, feeds and the API share.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Group, User
from django.db.models import F, QuerySet

from trackers.roles import ROLES
from trackers.timelines.models import Watcher


@dataclass(frozen=True, slots=True)
class Home:
    """`team_id` None: the person's own. `watcher_id` None: it never followed anything."""

    team_id: int | None
    name: str
    watcher_id: int | None


def teams() -> QuerySet[Group]:
    """The groups that have a home: those that are not roles."""
    return Group.objects.exclude(name__in=ROLES)


def homes_of(user: AbstractBaseUser | AnonymousUser) -> list[Home]:
    """All homes that the person may read and change: their own, then their teams', by name."""
    mine = Watcher.objects.filter(user=user.pk).values_list("pk", flat=True).first()
    found = (
        teams()
        .filter(user=user.pk)
        .order_by("name", "pk")
        .values_list("pk", "name", F("watcher__pk"))
    )
    return [Home(None, "Home", mine), *(Home(*team) for team in found)]


def watcher_of(home: Home, user: AbstractBaseUser | AnonymousUser) -> int:
    """The home's watcher, created when first needed."""
    if home.watcher_id is not None:
        return home.watcher_id
    who = {"team_id": home.team_id} if home.team_id else {"user_id": user.pk}
    return Watcher.objects.get_or_create(**who)[0].pk


def own(user: User) -> Watcher:
    """The person's own watcher, created when first needed."""
    return Watcher.objects.get_or_create(user=user)[0]
