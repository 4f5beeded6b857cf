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
from trackers.api.wire.auth import Bearer, act_on, actor_of, may
from trackers.api.wire.errors import refusal
from trackers.api.wire.fields import Id
from trackers.events import redelivery
from trackers.events.delivery.attempts import read_attempts
from trackers.events.fan_out import fan_out_all
from trackers.events.models import Attempt, Subscriber
from trackers.events.subscribers import acts
from trackers.events.subscribers.listing import described, shown
from trackers.events.subscribers.rules import NAME
from trackers.events.subscribers.standings import standing_of, standings
from trackers.events.subscribers.terms import NoSuchSubscriberError
from trackers.tokens.models import ADMIN
from tweetwatch.http.refusals import Refused

router = Router(tags=["subscribers"], auth=Bearer(changes=ADMIN))
DONE: dict[Any, Any] = {204: None}
MOST_ATTEMPTS = 500


@router.get("", response=SubscribersOut)
def list_subscribers(request: HttpRequest) -> dict[str, Any]:
    """All subscribers by name, with their counts so far."""
    may(request, "trackers.view_subscriber")
    with transaction.atomic():
        fan_out_all()
        found = standings(now=timezone.now())
    return {"subscribers": [described(one) for one in found]}


@router.post("", response={201: AddedOut})
def add_subscriber(request: HttpRequest, given: New) -> Status:
    """`signing_secret` is shown here, and by no other call."""
    actor = actor_of(request, acts.ADD)
    try:
        one, key = acts.add(given.name, given.terms(), actor)
    except ValidationError as error:
        raise refused(error) from None
    return Status(201, {**subscriber_json(one), "signing_secret": key})


@router.get("/{name}", response=SubscriberOut)
def read_subscriber(request: HttpRequest, name: str) -> dict[str, Any]:
    may(request, "trackers.view_subscriber")
    with transaction.atomic():
        fan_out_all()
        return subscriber_json(find(name))


@router.patch("/{name}", response=SubscriberOut)
def change_subscriber(request: HttpRequest, name: str, given: Change) -> dict[str, Any]:
    """Only the named `headers` are replaced; null removes one."""
    actor = actor_of(request, acts.CHANGE)
    try:
        return subscriber_json(acts.change(find(name), given.terms(), actor))
    except ValidationError as error:
        raise refused(error) from None


@router.delete("/{name}", response=DroppedOut)
def remove_subscriber(request: HttpRequest, name: str) -> dict[str, int]:
    """Drops its waiting events; `dropped` is their number."""
    return {"dropped": act_on(request, acts.ACTS["remove"], find, name).count}


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
    return acted(request, "test", name)


@router.post("/{name}/pause", response=DONE)
def pause(request: HttpRequest, name: str) -> Status:
    return acted(request, "pause", name)


@router.post("/{name}/resume", response=DONE)
def resume(request: HttpRequest, name: str) -> Status:
    """Works for a disabled subscriber, too."""
    return acted(request, "resume", name)


@router.post("/{name}/rotate_secret", response=SecretOut)
def rotate_secret(request: HttpRequest, name: str) -> dict[str, str]:
    """The previous secret also signs, until the next rotation."""
    actor = actor_of(request, acts.CHANGE)
    return {"signing_secret": acts.rotate_key(find(name), actor)}


@router.post("/{name}/replay", response=EventsOut)
def replay(request: HttpRequest, name: str, given: Time) -> dict[str, int]:
    """Returns how many events of its topics are delivered again, before its filters apply."""
    actor = actor_of(request, acts.CHANGE)
    subscriber, until = find(name), given.until or timezone.now()
    if given.since >= until:
        raise ValueError("since must be before until, and before now.")
    events = redelivery.count_replay(subscriber, given.since, until, most=redelivery.MOST_REPLAYED)
    if not given.dry_run:
        events = acts.replay(subscriber, actor, since=given.since, until=until).count
    return {"events": events}


@router.post("/{name}/redeliver", response=EventsOut)
def redeliver(request: HttpRequest, name: str, given: BatchIn) -> dict[str, int]:
    """Resends a batch of the log, by its webhook-id, as a new one; returns how many events were
    still kept."""
    done = act_on(request, acts.ACTS["redeliver"], find, name, batch=given.batch)
    return {"events": done.count}


def acted(request: HttpRequest, act: str, name: str) -> Status:
    act_on(request, acts.ACTS[act], find, name)
    return Status(204, None)


def find(name: str) -> Subscriber:
    there = Subscriber.objects.filter(removed_at=None).select_related("state")
    one = there.filter(name=name).first() if NAME.fullmatch(name) else None
    if one is None:
        raise NoSuchSubscriberError(name)
    return one


def subscriber_json(one: Subscriber) -> dict[str, Any]:
    return described(standing_of(one, now=timezone.now()))


def refused(error: ValidationError) -> Refused:
    """By the names that the API has for the fields; `__all__` is none of them."""
    return refusal({name.replace("__all__", ""): some for name, some in error.message_dict.items()})
