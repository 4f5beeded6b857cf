"""What people do with saved views: each act is in the history.

A view is changed and removed by who made it, and by owners (`SavedViewQuerySet.changed_by`), which
the doors ask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from trackers import history
from trackers.acts import Done
from trackers.history import Actor
from trackers.roles import teams, teams_of
from trackers.saved_views.models import MAX_NAME_LENGTH, SavedView

MAX_SAVED_VIEWS = 30
_TAKEN = "Two views of a person cannot have the same name."
_TOO_MANY = f"There are {MAX_SAVED_VIEWS} saved views: remove one first."


def save(name: str, query: str, actor: Actor, *, team: int | None = None) -> SavedView:
    """Under a name that is taken already, the actor's view asks for this from now on.

    `query`: of `TweetQuery.address`. `team`: with whom a new one is shared. A ValidationError says
    by field what is wrong.
    """
    name = _checked_name(name)
    _check_team(team, actor)
    with transaction.atomic():
        _lock(actor.account)
        mine = SavedView.objects.filter(user=actor.account)
        if mine.count() >= MAX_SAVED_VIEWS and not mine.filter(name=name).exists():
            raise ValidationError({"name": _TOO_MANY})
        # A new one is the last.
        new = {"query": query, "position": MAX_SAVED_VIEWS, "team_id": team}
        view, is_new = SavedView.objects.update_or_create(
            user_id=actor.account, name=name, defaults={"query": query}, create_defaults=new
        )
        flag = history.ADDITION if is_new else history.CHANGE
        history.record(actor, [view], "Saved a view of the tweets", flag=flag)
    return view


def change(view: SavedView, actor: Actor, **fields: Any) -> Done:
    """Its `name`, its `query`, its `team` by id, or None: those that are given.

    A ValidationError says by field what is wrong.
    """
    if "name" in fields:
        view.name = _checked_name(fields["name"])
    if "query" in fields:
        view.query = fields["query"]
    if "team" in fields and fields["team"] != view.team_id:
        _check_team(fields["team"], actor)
        view.team_id = fields["team"]
    try:
        with transaction.atomic():
            view.save(update_fields=["name", "query", "team"], force_update=True)
            history.record(actor, [view], "Changed the saved view")
    except IntegrityError:
        raise ValidationError({"name": _TAKEN}) from None
    return Done(f"“{view.name}” is changed.", 1)


@transaction.atomic
def arrange(
    actor: Actor, *, names: Mapping[int, str], teams: Mapping[int, int | None], up: int | None
) -> Done:
    """The actor's own, at once: their names and teams by id, and the one that moves up by one.

    An empty name leaves it as it is. A ValidationError says what is wrong, and nothing is changed.
    """
    _lock(actor.account)
    views = list(SavedView.objects.filter(user=actor.account))
    wanted = {one.pk: names.get(one.pk, "").strip() or one.name for one in views}
    if len(set(wanted.values())) < len(wanted):
        raise ValidationError({"name": "Two views have the same name. Nothing was changed."})
    changed = []
    for place, view in enumerate(_moved_up(views, up), start=1):
        team = teams.get(view.pk, view.team_id)
        if team != view.team_id:
            _check_team(team, actor)
        now = (_checked_name(wanted[view.pk]), place, team)
        if (view.name, view.position, view.team_id) != now:
            view.name, view.position, view.team_id = now
            changed.append(view)
    # No name is taken while another one still has it.
    for view in changed:
        SavedView.objects.filter(pk=view.pk).update(name=f"\x01{view.pk}")
    SavedView.objects.bulk_update(changed, ["name", "position", "team"])
    history.record(actor, changed, "Arranged the saved views")
    return Done("The views are as you arranged them.", len(changed))


def remove(view: SavedView, actor: Actor) -> Done:
    history.record(actor, [view], "Removed a saved view", flag=history.DELETION)
    SavedView.objects.filter(pk=view.pk).delete()
    return Done(f"“{view.name}” is removed.", 1)


def undoing(view: SavedView) -> dict[str, Any]:
    """What brings it back once it is removed, for JSON."""
    names = ("id", "user_id", "name", "query", "position", "team_id")
    return {name: getattr(view, name) for name in names}


def restore(removed: dict[str, Any], actor: Actor) -> Done:
    """Undo a removal: it is its maker's, and what used it finds it again; of its team only while
    that is there."""
    team = teams().filter(pk=removed["team_id"] or 0).first()
    try:
        with transaction.atomic():
            _lock(removed["user_id"])
            if SavedView.objects.filter(user=removed["user_id"]).count() >= MAX_SAVED_VIEWS:
                return Done(_TOO_MANY, is_done=False)
            view = SavedView.objects.create(**removed | {"team_id": team and team.pk})
            history.record(actor, [view], "Brought back a saved view", flag=history.ADDITION)
    except IntegrityError:
        return Done("It is there again, or its name is taken meanwhile.", is_done=False)
    return Done(f"“{view.name}” is back.", 1)


def _lock(person: int) -> None:
    """Lock: the person's row, so that no two views are added, and no two orders written at once."""
    get_user_model().objects.select_for_update(no_key=True).filter(pk=person).first()


def _checked_name(name: str) -> str:
    name = name.replace("\0", "").strip()[:MAX_NAME_LENGTH].strip()
    if not name:
        raise ValidationError({"name": "The view needs a name."})
    return name


def _check_team(team: int | None, actor: Actor) -> None:
    if team is not None and not teams_of(actor.user).filter(pk=team).exists():
        raise ValidationError({"team": "You are in no such team."})


def _moved_up(views: Sequence[SavedView], id: int | None) -> list[SavedView]:
    moved = list(views)
    for place, view in enumerate(views):
        if view.pk == id and place:
            moved[place - 1 : place + 1] = [view, views[place - 1]]
    return moved
