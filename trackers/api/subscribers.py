"""Subscribers to events in the API: add, read, change, test, deliver again, remove.

Works like the command (`manage.py subscriber`), with the same field names.
"""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Status

from trackers import history
from trackers.api.subscriber_bodies import (
    AddedOut,
    AttemptsOut,
    BatchIn,
    Change,
    DroppedOut,
    EventsOut,
    New,
    SecretOut,
    SubscriberOut,
    SubscribersOut,
    Time,
)
from trackers.api.wire.auth import ADMIN, Bearer, may, user_of
from trackers.api.wire.errors import Refused, refusal
from trackers.api.wire.fields import Id
from trackers.events import again
from trackers.events.delivery.attempts import read_attempts
from trackers.events.models import Attempt, Subscriber
from trackers.events.spread import spread_all
from trackers.events.subscribers import signing_keys, standing, subscribe, terms
from trackers.events.subscribers.listing import described, shown
from trackers.events.subscribers.rules import NAME
from trackers.events.subscribers.standings import standing_of, standings
from trackers.events.subscribers.terms import NoSuchSubscriberError

router = Router(tags=["subscribers"], auth=Bearer(changes=ADMIN))
DONE: dict[Any, Any] = {204: None}
MOST_ATTEMPTS = 500


@router.get("", response=SubscribersOut)
def list_subscribers(request: HttpRequest) -> dict[str, Any]:
    """All subscribers by name, with their counts so far."""
    may(request, "trackers.view_subscriber")
    with transaction.atomic():
        spread_all()
        found = standings(now=timezone.now())
    return {"subscribers": [described(one) for one in found]}


@router.post("", response={201: AddedOut})
def add_subscriber(request: HttpRequest, given: New) -> Status:
    """`signing_secret` is shown here, and by no other call."""
    user = may(request, "trackers.add_subscriber")
    try:
        one, key = terms.add(given.name, given.terms())
    except ValidationError as error:
        raise refused(error) from None
    history.record(user, [one], "Added, by the API.", flag=history.ADDITION)
    return Status(201, {**told(one), "signing_secret": key})


@router.get("/{name}", response=SubscriberOut)
def read_subscriber(request: HttpRequest, name: str) -> dict[str, Any]:
    may(request, "trackers.view_subscriber")
    with transaction.atomic():
        spread_all()
        return told(find(name))


@router.patch("/{name}", response=SubscriberOut)
def change_subscriber(request: HttpRequest, name: str, given: Change) -> dict[str, Any]:
    """Only the named `headers` are replaced; null removes one."""
    one = to_change(request, name)
    try:
        changed = terms.edit(one, given.terms())
    except ValidationError as error:
        raise refused(error) from None
    record(request, one, "Changed")
    return told(changed)


@router.delete("/{name}", response=DroppedOut)
def remove_subscriber(request: HttpRequest, name: str) -> dict[str, int]:
    """Drops its waiting events; `dropped` is their number."""
    user = may(request, "trackers.delete_subscriber")
    one = find(name)
    dropped = subscribe.remove(one)
    what = f"Removed; events dropped: {dropped:,}, by the API."
    history.record(user, [one], what, flag=history.DELETION)
    return {"dropped": dropped}


@router.get("/{name}/attempts", response=AttemptsOut)
def attempts(
    request: HttpRequest,
    name: str,
    outcome: Attempt.Outcome | None = None,
    before: Id | None = None,
    limit: int = Query(50, ge=1, le=MOST_ATTEMPTS),
) -> dict[str, Any]:
    """Newest first; pass `next` as `before` for more."""
    may(request, "trackers.view_subscriber")
    found = read_attempts(find(name), limit=limit + 1, outcome=outcome or "", before=before)
    rows = found[:limit]
    return {
        "attempts": [shown(one) for one in rows],
        "next": str(rows[-1].id) if len(found) > limit else None,
    }


@router.post("/{name}/test", response=DONE)
def send_test(request: HttpRequest, name: str) -> Status:
    """An event of the type noop; the outcome appears among the attempts."""
    again.test(one := to_change(request, name))
    record(request, one, "Test")
    return Status(204, None)


@router.post("/{name}/pause", response=DONE)
def pause(request: HttpRequest, name: str) -> Status:
    standing.pause(one := to_change(request, name))
    record(request, one, "Paused")
    return Status(204, None)


@router.post("/{name}/resume", response=DONE)
def resume(request: HttpRequest, name: str) -> Status:
    """Works for a disabled subscriber, too."""
    standing.resume(one := to_change(request, name))
    record(request, one, "Resumed")
    return Status(204, None)


@router.post("/{name}/rotate_secret", response=SecretOut)
def rotate_secret(request: HttpRequest, name: str) -> dict[str, str]:
    """The previous secret also signs, until the next rotation."""
    key = signing_keys.rotate(one := to_change(request, name))
    record(request, one, "Created a new signing key")
    return {"signing_secret": key}


@router.post("/{name}/replay", response=EventsOut)
def replay(request: HttpRequest, name: str, given: Time) -> dict[str, int]:
    """Returns how many events of its topics are delivered again, before its filters apply."""
    one, until = to_change(request, name), given.until or timezone.now()
    if given.since >= until:
        raise ValueError("since must be before until, and before now.")
    events = again.count(one, given.since, until, most=again.MOST_REPLAYED)
    if given.dry_run:
        return {"events": events}
    events = again.replay(one, given.since, until)
    record(request, one, f"Replay; events: {events:,}")
    return {"events": events}


@router.post("/{name}/redeliver", response=EventsOut)
def redeliver(request: HttpRequest, name: str, given: BatchIn) -> dict[str, int]:
    """Resends a batch of the log, by its webhook-id, as a new one; returns how many events were
    still kept."""
    events = again.redeliver(one := to_change(request, name), given.batch)
    record(request, one, f"A batch again; events: {events:,}")
    return {"events": events}


def find(name: str) -> Subscriber:
    there = Subscriber.objects.filter(removed_at=None).select_related("state")
    one = there.filter(name=name).first() if NAME.fullmatch(name) else None
    if one is None:
        raise NoSuchSubscriberError(name)
    return one


def told(one: Subscriber) -> dict[str, Any]:
    return described(standing_of(one, now=timezone.now()))


def to_change(request: HttpRequest, name: str) -> Subscriber:
    may(request, "trackers.change_subscriber")
    return find(name)


def record(request: HttpRequest, one: Subscriber, what: str) -> None:
    history.record(user_of(request), [one], f"{what}, by the API.")


def refused(error: ValidationError) -> Refused:
    """By the names that the API has for the fields; `__all__` is none of them."""
    return refusal({name.replace("__all__", ""): some for name, some in error.message_dict.items()})
