"""Subscribers, and what they are told."""

from datetime import timedelta

from trackers.events.audit import audit
from trackers.events.books import read_books
from trackers.events.delivery.claim import claim_batches, promote
from trackers.events.delivery.settle import Outcome, settle_deliveries
from trackers.events.fan_out import fan_out
from trackers.events.models import EventBatch, Subscriber
from trackers.events.subscribers.subscriptions import enroll
from trackers.outbox.models import Event
from trackers.outbox.publish import NewEvent, publish_events

A_MINUTE = timedelta(minutes=1)
NOW = timedelta(0)


def subscriber(name="one", topics=("news",), **knobs):
    given = {"callback": "https://there.example/in", "secrets": {"uuid": "u"}, "timeout_ms": 0}
    made = Subscriber(name=name, **{**given, **knobs})
    enroll(made, topics)
    return made


def news(*numbers, topic="news", type="create"):
    """Told in one transaction, an address each."""
    publish_events(
        [NewEvent(topic, type, url=f"https://here.example/{number}") for number in numbers]
    )


def fanned_out(*numbers, **how):
    news(*numbers, **how)
    while fan_out():
        pass


def numbers(events):
    """What the events are of, in the order of their ids here."""
    urls = dict(Event.objects.filter(id__in=events).values_list("id", "url"))
    return [int(urls[id].rsplit("/", 1)[1]) for id in events]


def line(one):
    """The batches of a subscriber: the state of each, and what is in it."""
    rows = EventBatch.objects.filter(subscriber=one).order_by("place", "id")
    return [("current" if row.is_current else str(row.state), *numbers(row.events)) for row in rows]


def take(slots=10, lease=A_MINUTE):
    promote()
    return claim_batches(slots, lease)


def deliver(batches, *, delivered=True, most=A_MINUTE, **answer):
    return settle_deliveries([Outcome(one, delivered, NOW, **answer) for one in batches], most=most)


def books(name="one"):
    [found] = [row for row in read_books() if row.name == name]
    assert all(one.is_sound for one in audit(found.id)), audit(found.id)
    return found.added, found.delivered, found.dropped, found.queued
