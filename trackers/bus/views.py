"""The calls of the bus: read the request, carry it out, answer. docs/bus.md has the table."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from trackers.bus import fields, subscribers, tokens, topics
from trackers.bus.answers import Refused, as_json, empty
from trackers.bus.auth import Caller, for_both, for_client, for_root
from trackers.bus.body import object_of
from trackers.bus.keys import is_first, key_of
from trackers.events.models import BusToken
from trackers.events.subscribers.rules import TOPIC
from trackers.events.subscribers.standings import Standing
from trackers.outbox.tell import Told, tell

SHOWN_OF_UUID = 4


@for_root
def list_tokens(_request: HttpRequest) -> HttpResponse:
    return as_json(
        [{"name": one.name, "token": tokens.shown(one)} for one in BusToken.objects.all()]
    )


@for_root
def make_token(request: HttpRequest) -> HttpResponse:
    given = fields.new_token(object_of(request))
    return as_json({"token": tokens.make(given), "name": given.name}, 201)


@for_root
def revoke_token(_request: HttpRequest, token: str) -> HttpResponse:
    tokens.revoke(token)
    return empty(204)


@for_client
def publish(request: HttpRequest, caller: Caller, name: str) -> HttpResponse:
    topic = fields.topic_name(name)
    key = key_of(request.headers.get("Idempotency-Key"))
    given = fields.publication(object_of(request))
    if not topics.claim(topic, caller.name):
        raise Refused(403, "Another client publishes this topic.")
    event = Told(topic, given.type, url=given.url, t=given.t, data=given.data)
    if key is None:
        tell([event])
        return empty(200)
    with transaction.atomic():
        if is_first(key, caller, topic, given):
            tell([event])
    return empty(200)


@for_both
def list_topics(_request: HttpRequest, caller: Caller) -> HttpResponse:
    return as_json(topics.listed())


@for_both
def delete_topic(_request: HttpRequest, caller: Caller, name: str) -> HttpResponse:
    topics.delete(known(name), caller)
    return empty(204)


@for_client
def subscribe(request: HttpRequest, caller: Caller) -> HttpResponse:
    subscribers.put(caller, fields.wanted(object_of(request)))
    return empty(204)


@for_both
def delete_subscriber(_request: HttpRequest, caller: Caller) -> HttpResponse:
    subscribers.delete(caller)
    return empty(204)


@for_both
def unsubscribe(_request: HttpRequest, caller: Caller, name: str) -> HttpResponse:
    subscribers.unsubscribe(caller, known(name))
    return empty(204)


@for_both
def list_subscribers(_request: HttpRequest, caller: Caller) -> HttpResponse:
    return as_json([told(one, caller) for one in subscribers.listed()])


def known(name: str) -> str:
    """A name that no topic can have is treated as an unknown topic."""
    if not TOPIC.fullmatch(name):
        raise Refused(404, "There is no such topic.")
    return name


def told(one: Standing, caller: Caller) -> dict[str, Any]:
    subscriber, books = one.subscriber, one.books
    uuid = subscriber.secrets.get("uuid", "")
    return {
        "subscriber": subscriber.name,
        # Anyone who knows it can send batches in the name of the bus.
        "uuid": uuid if caller.is_root or caller.name == subscriber.name else cut(uuid),
        "callback": subscriber.callback,
        "max_events": subscriber.max_events,
        "timeout": subscriber.timeout_ms,
        "topics": one.topics,
        "events": {
            "sent": books.delivered,
            "queued": books.queued,
            "oldest": int(books.oldest.timestamp()) if books.oldest else None,
        },
    }


def cut(uuid: str) -> str:
    return f"{uuid[: min(SHOWN_OF_UUID, len(uuid) // 4)]}…" if uuid else ""
