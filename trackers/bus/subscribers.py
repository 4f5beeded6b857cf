"""Subscribers as clients see them. A client's subscriber has the name of its token."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from trackers.bus.auth import HOW_TO_AUTHENTICATE, Caller
from trackers.bus.bodies import SubscriptionIn
from trackers.bus.topics import NO_TOPIC
from trackers.events.fan_out import fan_out_all
from trackers.events.models import Subscriber
from trackers.events.subscribers.signing_keys import new_signing_key
from trackers.events.subscribers.standing import enable
from trackers.events.subscribers.standings import Standing, standings
from trackers.events.subscribers.subscribe import (
    add_subscriber,
    leave,
    retire_subscriber,
    save_subscriber,
)
from trackers.outbox.models import Topic
from trackers.tokens.models import ApiToken
from tweetwatch.http.refusals import Refused

_NOT_SUBSCRIBED = "You are not a subscriber."


def subscribe(caller: Caller, subscription: SubscriptionIn) -> None:
    """The caller subscribes to exactly these topics; a disabled subscriber is enabled again.

    Runs under the lock of the spread, so two requests of one client take turns.
    """
    with transaction.atomic():
        fan_out_all()
        token = ApiToken.objects.select_for_update(no_key=True).filter(pk=caller.token_id).first()
        if token is None:
            raise Refused(401, f"This needs a client's token. {HOW_TO_AUTHENTICATE}")
        known = _subscriber_of(caller, Subscriber.objects.select_for_update(no_key=True))
        subscriber = known or Subscriber(name=caller.name, secrets={"signing": [new_signing_key()]})
        subscriber.token, subscriber.callback = token, subscription.callback
        if subscription.uuid is not None:
            subscriber.secrets = {**subscriber.secrets, "uuid": subscription.uuid}
        if subscription.timeout is not None:
            subscriber.timeout_ms = subscription.timeout
        if subscription.max is not None:
            subscriber.max_events = subscription.max
        if known:
            save_subscriber(subscriber, subscription.topics)
            enable(subscriber)
        else:
            add_subscriber(subscriber, subscription.topics)


def _subscriber_of(caller: Caller, among: QuerySet[Subscriber] | None = None) -> Subscriber | None:
    """None: the caller is root, or no subscriber."""
    if caller.is_root:
        return None
    rows = Subscriber.objects.all() if among is None else among
    return rows.filter(name=caller.name, removed_at=None).first()


def remove_subscriber(caller: Caller) -> None:
    with transaction.atomic():
        fan_out_all()
        subscriber = _subscriber_of(caller)
        if subscriber is None:
            raise LookupError(_NOT_SUBSCRIBED)
        retire_subscriber(subscriber)


def unsubscribe(caller: Caller, topic_name: str) -> None:
    with transaction.atomic():
        fan_out_all()
        topic = Topic.objects.filter(name=topic_name).first()
        subscriber = _subscriber_of(caller)
        if topic is None:
            raise LookupError(NO_TOPIC)
        if subscriber is None:
            raise LookupError(_NOT_SUBSCRIBED)
        if not leave(subscriber, topic):
            raise LookupError("You do not subscribe to this topic.")


def list_subscribers() -> list[Standing]:
    """All of them by name, with every event so far counted."""
    with transaction.atomic():
        fan_out_all()
        return standings(now=timezone.now())
