"""Shares in the API: list, make, end."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema, Status
from pydantic import Field, StrictInt, StrictStr

from trackers.api.wire.auth import acted, actor_of, require_permission, user_of
from trackers.api.wire.errors import refusal
from trackers.api.wire.fields import NO_CONTENT, DigitsOut, TimeOut, UnsignedId
from trackers.shares import acts
from trackers.shares.acts import MAX_DAYS, MAX_LIVE, SHARE_ACTS
from trackers.shares.models import MAX_TITLE_LENGTH, Share
from trackers.shares.terms import MAKE
from tweetwatch.clock_times import iso
from tweetwatch.http.json_bodies import Strict

router = Router(tags=["shares"])


class ShareIn(Strict):
    """`kind` and `of`: a tweet by its id, a set as `hashtag/moon`, or a comparison of two to six of
    the one or the other, with commas. `query`: what its page shows, as in the address of that page.
    `days`: how long the link is open."""

    kind: Literal["tweet", "set", "comparison"]
    of: Annotated[StrictStr, Field(min_length=1, max_length=150)]
    query: Annotated[StrictStr, Field(max_length=300)] = ""
    title: Annotated[StrictStr, Field(max_length=MAX_TITLE_LENGTH)] = ""
    with_notes: bool = False
    days: Annotated[StrictInt, Field(ge=1, le=MAX_DAYS)] = 30


class ShareOut(Schema):
    """`url` is for anybody, until `ends_at`. `seen`: how often its page was opened."""

    id: DigitsOut
    url: str
    kind: str
    of: str
    title: str
    with_notes: bool
    by: str
    made_at: TimeOut
    ends_at: TimeOut
    seen: int


class SharesOut(Schema):
    shares: list[ShareOut]


@router.get("", response=SharesOut)
def list_shares(request: HttpRequest) -> dict[str, Any]:
    """Those that are open, the newest first."""
    require_permission(request, "trackers.view_share")
    live = Share.objects.live(now=timezone.now()).select_related("made_by")
    return {"shares": [_share_json(one) for one in live.order_by("-pk")[:MAX_LIVE]]}


@router.post("", response={201: ShareOut})
def make_share(request: HttpRequest, body: ShareIn) -> Status:
    """422 while sharing is off, and for what X's terms do not let anybody show."""
    actor = actor_of(request, MAKE)
    try:
        made = acts.share(
            body.kind, body.of, actor, user_of(request), query=body.query,
            title=body.title, with_notes=body.with_notes, days=body.days,
        )  # fmt: skip
    except ValidationError as wrong:
        faults = wrong.message_dict if hasattr(wrong, "error_dict") else {"": wrong.messages}
        raise refusal(faults) from None
    return Status(201, _share_json(made))


@router.delete("/{share}", response=NO_CONTENT)
def end_share(request: HttpRequest, share: UnsignedId) -> Status:
    """Its link shows nothing any more."""
    return acted(request, SHARE_ACTS["end"], _find_share, share)


def _find_share(id: int) -> Share:
    found = Share.objects.filter(pk=id).first()
    if found is None:
        raise LookupError(f"There is no share {id}.")
    return found


def _share_json(made: Share) -> dict[str, Any]:
    ends_at: datetime = made.ends_at
    return {
        "id": made.pk,
        "url": f"{settings.PUBLIC_URL}{made.address}",
        "kind": made.kind,
        "of": made.of,
        "title": made.title,
        "with_notes": made.with_notes,
        "by": made.made_by.get_username(),
        "made_at": iso(made.made_at),
        "ends_at": iso(ends_at),
        "seen": made.seen,
    }
