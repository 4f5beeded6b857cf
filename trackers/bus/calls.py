"""The calls of the bus: read the request, carry it out, answer. docs/bus.md has the table.

Routemaster's documentation and its clients spell some paths differently; both spellings work here.
"""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import orjson
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Status

from trackers.bus import acts, tokens, topics
from trackers.bus.auth import CLIENT, EITHER, ROOT, Caller, caller_of
from trackers.bus.bodies import (
    NO_CONTENT,
    PublicationIn,
    SubscriberOut,
    SubscriptionIn,
    TokenIn,
    TokenOut,
    TopicName,
    TopicOut,
)
from trackers.events.subscribers.rules import TOPIC
from trackers.events.subscribers.status import SubscriberStatus, current_statuses
from trackers.history import Actor, by_bus
from trackers.outbox.publish import NewEvent, publish_events
from trackers.tokens import idempotency
from trackers.tokens.idempotency import KeyedRequest, UsedOtherwiseError, half_digest, key_of
from tweetwatch.http.refusals import Refused

router = Router(auth=EITHER)
_OTHER_EVENT = "Another event was published with this Idempotency-Key."
_UUID_LETTERS_SHOWN = 4


# Before all others: Django looks through the addresses in their order.
@router.post("/topics/{name}", auth=CLIENT, response={200: None})
@router.post("/topic/{name}", auth=CLIENT, response={200: None}, include_in_schema=False)
def publish_event(request: HttpRequest, name: TopicName, body: PublicationIn) -> None:
    caller = caller_of(request)
    header = request.headers.get("Idempotency-Key")
    key = None if header is None else key_of(header)
    if not topics.claim_topic(name, caller.name):
        raise Refused(403, "Another client publishes this topic.")
    event = NewEvent(name, body.type, url=body.url, t=body.timestamp, data=body.data)
    if key is None:
        publish_events([event])
        return
    asked = half_digest(orjson.dumps(astuple(event), option=orjson.OPT_SORT_KEYS))
    try:
        with transaction.atomic():
            if idempotency.claim_key(KeyedRequest(caller.token_id, key, asked)):
                publish_events([event])
    except UsedOtherwiseError:
        raise Refused(422, _OTHER_EVENT) from None


@router.get("/api_tokens", auth=ROOT, response=list[TokenOut])
def list_tokens(request: HttpRequest) -> list[dict[str, str]]:
    return [
        {"name": token.name, "token": tokens.masked_token(token)}
        for token in tokens.bus_tokens().filter(scope=tokens.CLIENT)
    ]


@router.post("/api_tokens", auth=ROOT, response={201: TokenOut})
def make_token(request: HttpRequest, body: TokenIn) -> Status:
    token = acts.add_token(body.name, _actor_of(request), token=body.token)
    return Status(201, {"name": body.name, "token": token})


@router.delete("/api_tokens/{token}", auth=ROOT, response=NO_CONTENT)
def revoke_token(request: HttpRequest, token: str) -> None:
    if known := tokens.find_client_tokens(token):
        acts.remove_tokens(known, _actor_of(request))


@router.get("/topics", response=list[TopicOut])
def list_topics(request: HttpRequest) -> list[topics.ListedTopic]:
    return topics.list_topics()


@router.delete("/topics/{name}", response=NO_CONTENT)
@router.delete("/topic/{name}", response=NO_CONTENT, include_in_schema=False)
def delete_topic(request: HttpRequest, name: str) -> None:
    acts.delete_topic(_check_topic_name(name), caller_of(request), _actor_of(request))


@router.post("/subscription", auth=CLIENT, response=NO_CONTENT)
@router.post("/subscriber", auth=CLIENT, response=NO_CONTENT, include_in_schema=False)
def subscribe(request: HttpRequest, body: SubscriptionIn) -> None:
    acts.subscribe(caller_of(request), body, _actor_of(request))


@router.delete("/subscriber", response=NO_CONTENT)
@router.delete("/subscription", response=NO_CONTENT, include_in_schema=False)
def delete_subscriber(request: HttpRequest) -> None:
    acts.remove_subscriber(caller_of(request), _actor_of(request))


@router.delete("/subscriber/topics/{name}", response=NO_CONTENT)
@router.delete("/subscription/topics/{name}", response=NO_CONTENT, include_in_schema=False)
def unsubscribe(request: HttpRequest, name: str) -> None:
    acts.unsubscribe(caller_of(request), _check_topic_name(name), _actor_of(request))


@router.get("/subscribers", response=list[SubscriberOut])
@router.get("/subscriptions", response=list[SubscriberOut], include_in_schema=False)
def list_subscribers(request: HttpRequest) -> list[dict[str, Any]]:
    caller = caller_of(request)
    return [_subscriber_json(status, caller) for status in current_statuses(now=timezone.now())]


def _actor_of(request: HttpRequest) -> Actor:
    return by_bus(caller_of(request).name)


def _check_topic_name(name: str) -> str:
    """A name that no topic can have is treated as an unknown topic."""
    if not TOPIC.fullmatch(name):
        raise LookupError(topics.NO_TOPIC)
    return name


def _subscriber_json(status: SubscriberStatus, caller: Caller) -> dict[str, Any]:
    subscriber, books = status.subscriber, status.books
    uuid = subscriber.secrets.get("uuid", "")
    return {
        "subscriber": subscriber.name,
        # Anyone who knows it can send batches in the name of the bus.
        "uuid": uuid
        if caller.is_root or caller.name == subscriber.name
        else _abbreviate_uuid(uuid),
        "callback": subscriber.callback,
        "max_events": subscriber.max_events,
        "timeout": subscriber.timeout_ms,
        "topics": status.topics,
        "events": {
            "sent": books.delivered,
            "queued": books.queued,
            "oldest": int(books.oldest.timestamp()) if books.oldest else None,
        },
    }


def _abbreviate_uuid(uuid: str) -> str:
    return f"{uuid[: min(_UUID_LETTERS_SHOWN, len(uuid) // 4)]}…" if uuid else ""
