"""Saved views in the API: list, make, change, remove."""

from __future__ import annotations

from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field, StrictStr

from trackers.api.wire.auth import VIEW_TWEETS, actor_of, require_permission
from trackers.api.wire.errors import refusal
from trackers.api.wire.fields import NO_CONTENT, DigitsOut, UnsignedId
from trackers.listing.saved import plain_query
from trackers.saved_views import acts
from trackers.saved_views.models import MAX_NAME_LENGTH, SavedView
from tweetwatch.http.json_bodies import Strict

router = Router(tags=["views"])

ViewName = Annotated[StrictStr, Field(min_length=1, max_length=MAX_NAME_LENGTH)]
ViewQuery = Annotated[StrictStr, Field(max_length=2000)]


class TeamOut(Schema):
    id: DigitsOut
    name: str


class ViewOut(Schema):
    """`query`: what the list of tweets has in its address. `team`: whose members see it, too; null:
    only who made it. `mine`: it was made by the token's user."""

    id: DigitsOut
    name: str
    query: str
    team: TeamOut | None
    by: str
    mine: bool


class ViewsOut(Schema):
    views: list[ViewOut]


class ViewIn(Strict):
    """`query`: as in the address of the list of tweets: `tag=launch&min_likes=100`. `team`: the id
    of a group that the token's user is in."""

    name: ViewName
    query: ViewQuery
    team: UnsignedId | None = None


class ViewChangeIn(Strict):
    """What is absent stays; `"team": null` ends the sharing."""

    name: ViewName | None = None
    query: ViewQuery | None = None
    team: UnsignedId | None = None


@router.get("", response=ViewsOut)
def list_views(request: HttpRequest) -> dict[str, Any]:
    """One's own, in their order, then those that others share with one's teams."""
    user = require_permission(request, VIEW_TWEETS)
    return {"views": [_view_json(view) for view in SavedView.objects.seen_by(user)]}


@router.post("", response={201: ViewOut})
def save_view(request: HttpRequest, body: ViewIn) -> Status:
    """Under a name that one has already, that view asks for this from now on."""
    actor = actor_of(request, VIEW_TWEETS)
    try:
        saved = acts.save(body.name, plain_query(body.query), actor, team=body.team)
    except ValidationError as wrong:
        raise refusal(wrong.message_dict) from None
    return Status(201, _view_json(_find_view(request, saved.pk)))


@router.patch("/{view}", response=ViewOut)
def change_view(request: HttpRequest, view: UnsignedId, body: ViewChangeIn) -> dict[str, Any]:
    """Of one's own, and for owners of any that is shared with a team."""
    actor = actor_of(request, VIEW_TWEETS)
    changed = _find_view(request, view)
    fields = body.model_dump(exclude_unset=True)
    fields = {name: value for name, value in fields.items() if name == "team" or value is not None}
    if "query" in fields:
        fields["query"] = plain_query(fields["query"])
    try:
        acts.change(changed, actor, **fields)
    except ValidationError as wrong:
        raise refusal(wrong.message_dict) from None
    return _view_json(changed)


@router.delete("/{view}", response=NO_CONTENT)
def remove_view(request: HttpRequest, view: UnsignedId) -> Status:
    """What used it, a column, a rule or a feed, says that it is gone."""
    actor = actor_of(request, VIEW_TWEETS)
    acts.remove(_find_view(request, view), actor)
    return Status(204, None)


def _find_view(request: HttpRequest, id: int) -> SavedView:
    """One that the user may change."""
    user = require_permission(request, VIEW_TWEETS)
    view = SavedView.objects.changed_by(user).filter(pk=id).first()
    if view is None:
        raise LookupError(f"You have no saved view {id}.")
    return view


def _view_json(view: SavedView) -> dict[str, Any]:
    return {
        "id": view.pk,
        "name": view.name,
        "query": view.query,
        "team": {"id": view.team.pk, "name": view.team.name} if view.team else None,
        "by": view.user.get_username(),
        "mine": view.is_own,
    }
