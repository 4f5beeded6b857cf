"""Who gets what: topics are joined and left, subscribers come and go.

Each first spreads what was stored before, under the lock of the spread: a new subscriber gets the
events from then on, and one that leaves gets those until then.
Locks: the spread's, then topics in the order of names, then subscribers, states and batches.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from trackers.events.fan_out import fan_out_all
from trackers.events.models import EventBatch, Subscriber, SubscriberState, Subscription
from trackers.outbox.models import Topic
from tweetwatch.database import cursor
from tweetwatch.statements import statement

_DROP_WAITING = statement(__file__, "empty")


def add_subscriber(subscriber: Subscriber, topics: Iterable[str]) -> None:
    """Add a subscriber to these topics; topics that do not exist are created."""
    with transaction.atomic():
        fan_out_all()
        subscriber.save(force_insert=True)
        SubscriberState.objects.create(subscriber=subscriber)
        _join(subscriber, topics)


def save_subscriber(subscriber: Subscriber, topics: Iterable[str]) -> None:
    """Save it, subscribed to exactly these topics."""
    with transaction.atomic():
        fan_out_all()
        subscriber.save(force_update=True)
        names = set(topics)
        left = subscriber.subscriptions.exclude(topic__name__in=names)
        rid = list(left.values_list("topic_id", flat=True))
        left.delete()
        _join(subscriber, names)
        _want(Topic.objects.filter(pk__in=rid))


def leave(subscriber: Subscriber, topic: Topic) -> bool:
    """Unsubscribe it from this topic; return whether it was subscribed."""
    with transaction.atomic():
        fan_out_all()
        gone, _ = subscriber.subscriptions.filter(topic=topic).delete()
        _want(Topic.objects.filter(pk=topic.pk))
    return bool(gone)


def retire_subscriber(subscriber: Subscriber) -> int:
    """Remove it, and drop what waits for it; return how many events."""
    with transaction.atomic():
        fan_out_all()
        topics = list(subscriber.subscriptions.values_list("topic_id", flat=True))
        subscriber.subscriptions.all().delete()
        # Its name becomes free. The new name has blanks, so no other subscriber can have it.
        Subscriber.objects.filter(pk=subscriber.pk).update(
            name=f"{subscriber.name[:40]} (removed {subscriber.pk})", removed_at=Now(), token=None
        )
        dropped = drop_waiting(subscriber)
        _want(Topic.objects.filter(pk__in=topics))
    return dropped


def forget_removed() -> int:
    """Delete removed subscribers that have no more batches on their way; return how many.

    A batch that was on its way at the removal, and failed since, is dropped like the others.
    """
    for subscriber in Subscriber.objects.exclude(removed_at=None):
        drop_waiting(subscriber)
    gone = Subscriber.objects.exclude(removed_at=None).exclude(
        Exists(EventBatch.objects.filter(subscriber=OuterRef("pk")))
    )
    return gone.delete()[1].get("trackers.Subscriber", 0)


def drop_waiting(subscriber: Subscriber) -> int:
    """Drop what waits for it; return how many events."""
    with cursor() as db:
        row = db.execute(_DROP_WAITING, {"subscriber": subscriber.pk}).fetchone()
    return int(row[0]) if row else 0


def _join(subscriber: Subscriber, topics: Iterable[str]) -> None:
    names = sorted(set(topics))
    for name in names:
        Topic(name=name).full_clean(validate_unique=False)
    Topic.objects.bulk_create([Topic(name=name) for name in names], ignore_conflicts=True)
    found = Topic.objects.filter(name__in=names)
    Subscription.objects.bulk_create(
        [Subscription(topic=topic, subscriber=subscriber) for topic in found],
        ignore_conflicts=True,
    )
    _want(found)


def _want(topics: QuerySet[Topic]) -> None:
    """Update `wanted` of these topics: whether anybody subscribes to them."""
    locked = topics.order_by("name").select_for_update(no_key=True)
    ids = list(locked.values_list("pk", flat=True))
    wanted = Exists(Subscription.objects.filter(topic=OuterRef("pk")))
    Topic.objects.filter(pk__in=ids).exclude(wanted=wanted).update(wanted=wanted)
