"""Who gets which topic: joined and left.

Whoever calls these first spreads what was stored before, under the lock of the spread: a new
subscriber gets the events from then on, and one that leaves gets those until then.
Locks: the spread's, then topics in the order of names, then subscribers, states and batches.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from trackers.events.fan_out import fan_out_all
from trackers.events.models import Subscriber, SubscriberState, Subscription
from trackers.outbox.models import Topic


def enroll(subscriber: Subscriber, topics: Iterable[str]) -> None:
    """Store a new subscriber, subscribed to these topics; topics that do not exist are created."""
    with transaction.atomic():
        fan_out_all()
        subscriber.save(force_insert=True)
        SubscriberState.objects.create(subscriber=subscriber)
        join_topics(subscriber, topics)


def join_topics(subscriber: Subscriber, topics: Iterable[str]) -> None:
    """Subscribe it to these as well, under the caller's lock of the spread."""
    names = sorted(set(topics))
    for name in names:
        Topic(name=name).full_clean(validate_unique=False)
    Topic.objects.bulk_create([Topic(name=name) for name in names], ignore_conflicts=True)
    joined = Topic.objects.filter(name__in=names)
    Subscription.objects.bulk_create(
        [Subscription(topic=topic, subscriber=subscriber) for topic in joined],
        ignore_conflicts=True,
    )
    _set_wanted(joined)


def leave_topics(subscriber: Subscriber, topics: QuerySet[Topic]) -> bool:
    """Unsubscribe it from these; return whether it was subscribed to any. Under the same lock."""
    rows = subscriber.subscriptions.filter(topic__in=topics)
    left = list(rows.values_list("topic_id", flat=True))
    rows.delete()
    _set_wanted(Topic.objects.filter(pk__in=left))
    return bool(left)


def _set_wanted(topics: QuerySet[Topic]) -> None:
    """Update `wanted` of these topics: whether anybody subscribes to them."""
    locked = topics.order_by("name").select_for_update(no_key=True)
    ids = list(locked.values_list("pk", flat=True))
    wanted = Exists(Subscription.objects.filter(topic=OuterRef("pk")))
    Topic.objects.filter(pk__in=ids).exclude(wanted=wanted).update(wanted=wanted)
