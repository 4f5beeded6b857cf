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
from pydantic import AwareDatetime

from trackers.api.subscriber_bodies import (
    AddedOut,
    AttemptsOut,
    BatchesOut,
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
from trackers.api.wire.auth import Bearer, act_on, acted, actor_of, require_permission
from trackers.api.wire.errors import refusal
from trackers.api.wire.fields import NO_CONTENT, Id
from trackers.events import redelivery
from trackers.events.delivery.models import Attempt
from trackers.events.fan_out import fan_out_all
from trackers.events.models import Subscriber
from trackers.events.set_aside import batch_json
from trackers.events.subscribers import acts
from trackers.events.subscribers.listing import attempt_json, subscriber_json
from trackers.events.subscribers.rules import NAME
from trackers.events.subscribers.status import current_statuses, status_of
from trackers.events.subscribers.terms import NoSuchSubscriberError
from trackers.tokens.models import ADMIN_SCOPE
from tweetwatch.http.refusals import Refused

router = Router(tags=["subscribers"], auth=Bearer(changes=ADMIN_SCOPE))
_MAX_ATTEMPTS = 500


@router.get("", response=SubscribersOut)
def list_subscribers(request: HttpRequest) -> dict[str, Any]:
    """All subscribers by name, with their counts so far."""
    require_permission(request, "trackers.view_subscriber")
    rows = current_statuses(now=timezone.now())
    return {"subscribers": [subscriber_json(row) for row in rows]}


@router.post("", response={201: AddedOut})
def add_subscriber(request: HttpRequest, body: New) -> Status:
    """`signing_secret` is shown here, and by no other call."""
    actor = actor_of(request, acts.ADD)
    try:
        subscriber, key = acts.add(body.name, body.terms(), actor)
    except ValidationError as error:
        raise _fields_refusal(error) from None
    return Status(201, {**_read_subscriber_json(subscriber), "signing_secret": key})


@router.get("/{name}", response=SubscriberOut)
def read_subscriber(request: HttpRequest, name: str) -> dict[str, Any]:
    require_permission(request, "trackers.view_subscriber")
    with transaction.atomic():
        fan_out_all()
        return _read_subscriber_json(_find_subscriber(name))


@router.patch("/{name}", response=SubscriberOut)
def change_subscriber(request: HttpRequest, name: str, body: Change) -> dict[str, Any]:
    """Only the named `headers` are replaced; null removes one."""
    actor = actor_of(request, acts.CHANGE)
    try:
        return _read_subscriber_json(acts.change(_find_subscriber(name), body.terms(), actor))
    except ValidationError as error:
        raise _fields_refusal(error) from None


@router.delete("/{name}", response=DroppedOut)
def remove_subscriber(request: HttpRequest, name: str) -> dict[str, int]:
    """Drops its waiting events; `dropped` is their number."""
    return {"dropped": act_on(request, acts.ACTS["remove"], _find_subscriber, name).count}


@router.get("/{name}/attempts", response=AttemptsOut)
def attempts(
    request: HttpRequest,
    name: str,
    outcome: Attempt.Outcome | None = None,
    before: Id | None = None,
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
    limit: int = Query(50, ge=1, le=_MAX_ATTEMPTS),
) -> dict[str, Any]:
    """Newest first, of [since, until); pass `next` as `before` for more."""
    require_permission(request, "trackers.view_subscriber")
    if since and until and since >= until:
        raise ValueError("since must be before until.")
    subscriber = _find_subscriber(name)
    fetched = Attempt.objects.newest_of(
        subscriber, limit=limit + 1, outcome=outcome or "", before=before, since=since, until=until
    )
    rows = fetched[:limit]
    return {
        "attempts": [attempt_json(attempt) for attempt in rows],
        "next": str(rows[-1].id) if len(fetched) > limit else None,
    }


@router.post("/{name}/test", response=NO_CONTENT)
def send_test(request: HttpRequest, name: str) -> Status:
    """An event of the type noop; the outcome appears among the attempts."""
    return acted(request, acts.ACTS["test"], _find_subscriber, name)


@router.post("/{name}/pause", response=NO_CONTENT)
def pause(request: HttpRequest, name: str) -> Status:
    return acted(request, acts.ACTS["pause"], _find_subscriber, name)


@router.post("/{name}/resume", response=NO_CONTENT)
def resume(request: HttpRequest, name: str) -> Status:
    """Works for a disabled subscriber, too."""
    return acted(request, acts.ACTS["resume"], _find_subscriber, name)


@router.post("/{name}/rotate_secret", response=SecretOut)
def rotate_secret(request: HttpRequest, name: str) -> dict[str, str]:
    """The previous secret also signs, until the next rotation."""
    actor = actor_of(request, acts.CHANGE)
    return {"signing_secret": acts.rotate_key(_find_subscriber(name), actor)}


@router.post("/{name}/replay", response=EventsOut)
def replay(request: HttpRequest, name: str, body: Time) -> dict[str, int]:
    """Returns how many events of its topics are delivered again, before its filters apply."""
    actor = actor_of(request, acts.CHANGE)
    subscriber, until = _find_subscriber(name), body.until or timezone.now()
    if body.since >= until:
        raise ValueError("since must be before until, and before now.")
    events = redelivery.count_replay(subscriber, body.since, until, most=redelivery.MOST_REPLAYED)
    if not body.dry_run:
        events = acts.replay(subscriber, actor, since=body.since, until=until).count
    return {"events": events}


@router.post("/{name}/redeliver", response=EventsOut)
def redeliver(request: HttpRequest, name: str, body: BatchIn) -> dict[str, int]:
    """Sends a batch of the log once more, under its webhook-id; returns how many events were still
    kept."""
    done = act_on(request, acts.ACTS["redeliver"], _find_subscriber, name, batch=body.batch)
    return {"events": done.count}


@router.get("/{name}/batches", response=BatchesOut)
def batches(
    request: HttpRequest, name: str, limit: int = Query(50, ge=1, le=_MAX_ATTEMPTS)
) -> dict[str, Any]:
    """What is set aside, and the head of the line; `limit` of each."""
    require_permission(request, "trackers.view_subscriber")
    subscriber = _find_subscriber(name)
    return {
        "set_aside": [batch_json(batch) for batch in subscriber.batches_set_aside()[:limit]],
        "waiting": [batch_json(batch) for batch in subscriber.batches_in_line()[:limit]],
    }


@router.post("/{name}/set_aside", response=NO_CONTENT)
def set_aside(request: HttpRequest, name: str, body: BatchIn) -> Status:
    """Takes a batch that failed out of the line, so that the next ones are sent."""
    return acted(request, acts.ACTS["set_aside"], _find_subscriber, name, batch=body.batch)


@router.post("/{name}/send_again", response=NO_CONTENT)
def send_again(request: HttpRequest, name: str, body: BatchIn) -> Status:
    """Delivers a batch that is set aside."""
    return acted(request, acts.ACTS["send_again"], _find_subscriber, name, batch=body.batch)


@router.post("/{name}/drop_batch", response=DroppedOut)
def drop_batch(request: HttpRequest, name: str, body: BatchIn) -> dict[str, int]:
    """Drops a batch that is set aside; `dropped` is the number of its events."""
    done = act_on(request, acts.ACTS["drop_batch"], _find_subscriber, name, batch=body.batch)
    return {"dropped": done.count}


def _find_subscriber(name: str) -> Subscriber:
    rows = Subscriber.objects.filter(removed_at=None).select_related("state")
    subscriber = rows.filter(name=name).first() if NAME.fullmatch(name) else None
    if subscriber is None:
        raise NoSuchSubscriberError(name)
    return subscriber


def _read_subscriber_json(subscriber: Subscriber) -> dict[str, Any]:
    return subscriber_json(status_of(subscriber, now=timezone.now()))


def _fields_refusal(error: ValidationError) -> Refused:
    """By the names that the API has for the fields; `__all__` is none of them."""
    return refusal({name.replace("__all__", ""): some for name, some in error.message_dict.items()})
