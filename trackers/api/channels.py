"""The channels that alerts go to, in the API. An address is written, and never read."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field, StrictBool, StrictStr

from trackers.api.wire.auth import (
    Bearer,
    act_on,
    acted,
    actor_of,
    require_permission,
)
from trackers.api.wire.errors import refusal
from trackers.api.wire.fields import NO_CONTENT, DigitsOut, TimeOut, UnsignedId
from trackers.channels import acts
from trackers.channels.listing import channel_json
from trackers.channels.models import Channel
from trackers.tokens.models import ADMIN_SCOPE
from tweetwatch.http.json_bodies import Strict
from tweetwatch.http.refusals import Refused

router = Router(tags=["channels"], auth=Bearer(changes=ADMIN_SCOPE))

ChannelName = Annotated[StrictStr, Field(min_length=1, max_length=80)]
Address = Annotated[dict[StrictStr, StrictStr], Field(max_length=8, repr=False)]


class ChannelOut(Schema):
    """`place`: what may be shown of its address. `own`: only its user sees it. `state`: `failing`
    since `failing_since`, for the `reason` that the service gave; `stopped`: the service says that
    it will never work again."""

    id: DigitsOut
    name: str
    kind: str
    place: str
    own: bool
    state: Literal["new", "working", "failing", "stopped", "muted"]
    reason: str
    failing_since: TimeOut | None
    sent_at: TimeOut | None


class ChannelsOut(Schema):
    channels: list[ChannelOut]


class ChannelIn(Strict):
    """`address`: its parts, by the names in docs/channels.md. No call returns it. `own`: for the
    token's user alone, whose name its name then begins with."""

    name: ChannelName
    kind: Channel.Kind
    address: Address
    own: StrictBool = False


class ChannelChangeIn(Strict):
    """Parts of the address that are left out stay as they are."""

    name: ChannelName | None = None
    address: Address = Field(default_factory=dict, repr=False)


class TestedOut(Schema):
    """`answer`: what the service said."""

    sent: bool
    answer: str


@router.get("", response=ChannelsOut)
def list_channels(request: HttpRequest) -> dict[str, Any]:
    """Everybody's, and those of the token's user; by name."""
    return {"channels": [channel_json(one) for one in _channels(request)]}


@router.post("", response={201: ChannelOut})
def add_channel(request: HttpRequest, body: ChannelIn) -> Status:
    actor = actor_of(request, acts.VIEW if body.own else acts.ADD)
    try:
        channel = acts.add(body.kind, body.name, body.address, actor, is_own=body.own)
    except ValidationError as wrong:
        raise _refusal_of(wrong) from None
    return Status(201, channel_json(channel))


@router.patch("/{channel}", response=ChannelOut)
def change_channel(
    request: HttpRequest, channel: UnsignedId, body: ChannelChangeIn
) -> dict[str, Any]:
    changed = _find_channel(request, channel)
    actor = actor_of(request, acts.VIEW if changed.is_own else acts.CHANGE)
    try:
        acts.change(changed, actor, name=body.name, address=body.address)
    except ValidationError as wrong:
        raise _refusal_of(wrong) from None
    return channel_json(changed)


@router.delete("/{channel}", response=NO_CONTENT)
def remove_channel(request: HttpRequest, channel: UnsignedId) -> Status:
    """Rules that choose it stay, and no longer tell it anything."""
    removed = _find_channel(request, channel)
    return acted(request, acts.acts_on(removed)["remove"], lambda _: removed, channel)


@router.post("/{channel}/test", response=TestedOut)
def test_channel(request: HttpRequest, channel: UnsignedId) -> dict[str, Any]:
    """Sends a test, and waits some seconds for the answer."""
    tested = _find_channel(request, channel)
    done = act_on(request, acts.acts_on(tested)["test"], lambda _: tested, channel)
    return {"sent": done.is_done, "answer": done.message}


def _channels(request: HttpRequest) -> QuerySet[Channel]:
    return Channel.objects.seen_by(require_permission(request, acts.VIEW)).defer("address")


def _find_channel(request: HttpRequest, id: int) -> Channel:
    channel = _channels(request).filter(pk=id).first()
    if channel is None:
        raise LookupError(f"There is no channel {id}.")
    return channel


def _refusal_of(error: ValidationError) -> Refused:
    if hasattr(error, "error_dict"):
        return refusal(error.message_dict)
    return refusal({"": error.messages})
