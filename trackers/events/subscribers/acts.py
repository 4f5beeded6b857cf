"""What is done to a subscriber, by whom and through whichever door: each act is in the history."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from trackers import history
from trackers.acts import Act, Done
from trackers.events import redelivery, set_aside
from trackers.events.drop import drop_waiting
from trackers.events.fan_out import fan_out_all
from trackers.events.models import Subscriber
from trackers.events.subscribers import disabling, signing_keys
from trackers.events.subscribers.status import status_of
from trackers.events.subscribers.subscriptions import enroll, join_topics, leave_topics
from trackers.events.subscribers.terms import TWICE, Terms, locked_subscriber, set_terms
from trackers.history import Actor
from trackers.outbox.models import Topic
from tweetwatch.amounts import amount

ADD, CHANGE, _DELETE = (f"trackers.{verb}_subscriber" for verb in ("add", "change", "delete"))


def add(name: str, terms: Terms, actor: Actor) -> tuple[Subscriber, str]:
    """Add a subscriber; return it, and its signing key, which is never shown again.

    A ValidationError says by field what is wrong; nothing is stored then.
    """
    key = signing_keys.new_signing_key()
    subscriber = Subscriber(name=name, secrets={"signing": [key]})
    topics = set_terms(subscriber, terms, topics=list(terms.topics or ()))
    try:
        enroll(subscriber, topics)
    except IntegrityError:
        # Somebody was faster.
        raise ValidationError({"name": TWICE}) from None
    history.record(actor, [subscriber], "Added", flag=history.ADDITION)
    return subscriber, key


def change(subscriber: Subscriber, terms: Terms, actor: Actor) -> Subscriber:
    """Change the terms of a subscriber, but not its name; return it as saved.

    Its row is locked before it is read, so that a pause or a key rotation meanwhile is not undone.
    """
    with transaction.atomic():
        fan_out_all()
        changed = locked_subscriber(subscriber.name, pk=subscriber.pk)
        known = list(changed.subscriptions.values_list("topic__name", flat=True))
        topics = set_terms(
            changed, terms, topics=known if terms.topics is None else list(terms.topics)
        )
        changed.save(force_update=True)
        leave_topics(changed, Topic.objects.exclude(name__in=topics))
        join_topics(changed, topics)
    history.record(actor, [changed], "Changed")
    return changed


def pause(subscriber: Subscriber, actor: Actor) -> Done:
    """Keep its events, but send nothing."""
    Subscriber.objects.filter(pk=subscriber.pk, paused_at=None).update(paused_at=Now())
    history.record(actor, [subscriber], "Paused")
    return Done(f"{subscriber}: Paused. Its events are kept.")


def resume(subscriber: Subscriber, actor: Actor) -> Done:
    """Send again from now on, even if it was disabled."""
    with transaction.atomic():
        Subscriber.objects.filter(pk=subscriber.pk).update(paused_at=None)
        disabling.enable(subscriber)
    history.record(actor, [subscriber], "Resumed")
    return Done(f"{subscriber}: Resumed. Waiting events are being sent.")


def remove(subscriber: Subscriber, actor: Actor) -> Done:
    """Remove it, and drop what waits for it; `count`: how many events."""
    name = str(subscriber)
    with transaction.atomic():
        fan_out_all()
        leave_topics(subscriber, Topic.objects.all())
        # Its name becomes free. The new name has blanks, so no other subscriber can have it.
        Subscriber.objects.filter(pk=subscriber.pk).update(
            name=f"{name[:40]} (removed {subscriber.pk})", removed_at=Now(), token=None
        )
        events = drop_waiting(subscriber)
    history.record(
        actor, [subscriber], f"Removed; events dropped: {events:,}", flag=history.DELETION
    )
    return Done(f"{name}: Removed, with {amount(events, 'waiting event')}.", events)


def leave_topic(subscriber: Subscriber, topic: Topic, actor: Actor) -> Done:
    with transaction.atomic():
        fan_out_all()
        is_left = leave_topics(subscriber, Topic.objects.filter(pk=topic.pk))
    if not is_left:
        return Done(f"{subscriber} does not subscribe to {topic}.", is_done=False)
    history.record(actor, [subscriber], f"Left the topic {topic}")
    return Done(f"{subscriber}: Left the topic {topic}.")


def _drop(subscriber: Subscriber, actor: Actor) -> Done:
    """Drop what waits for it; `count`: how many events."""
    events = drop_waiting(subscriber)
    history.record(actor, [subscriber], f"Dropped {events:,} waiting events")
    return Done(f"{subscriber}: {amount(events, 'event')} dropped.", events)


def rotate_key(subscriber: Subscriber, actor: Actor) -> str:
    """Return a new signing key; the one before also signs until the next rotation."""
    key = signing_keys.rotate(subscriber)
    history.record(actor, [subscriber], "Created a new signing key")
    return key


def end_overlap(subscriber: Subscriber, actor: Actor) -> Done:
    """Sign only with the newest key from now on."""
    signing_keys.drop_old_key(subscriber)
    history.record(actor, [subscriber], "Ended the old signing key")
    return Done(f"{subscriber}: Only the newest key signs now.")


def test(subscriber: Subscriber, actor: Actor) -> Done:
    """Send it a test event, which means nothing."""
    redelivery.test(subscriber)
    history.record(actor, [subscriber], "Sent a test")
    return Done(f"{subscriber}: Sent a test. The result is among its attempts.")


def replay(subscriber: Subscriber, actor: Actor, *, since: datetime, until: datetime) -> Done:
    """Deliver the events of [since, until) again; `count`: how many, before its filters."""
    events = redelivery.stage_replay(subscriber, since, until)
    history.record(actor, [subscriber], f"Replay of {events:,} events")
    return Done(
        f"{subscriber}: {amount(events, 'event')} will be delivered again, if its "
        "filters match them.",
        events,
    )


def redeliver(subscriber: Subscriber, actor: Actor, *, batch: UUID) -> Done:
    """Send a batch once more, under its id; `count`: how many of its events are still kept.

    Raises NoSuchBatchError.
    """
    events = redelivery.redeliver(subscriber, batch)
    history.record(actor, [subscriber], f"Delivered {events:,} events of a batch again")
    return Done(
        f"{subscriber}: {amount(events, 'event')} of that batch will be sent once more. "
        "The result is among its attempts.",
        events,
    )


def put_aside(subscriber: Subscriber, actor: Actor, *, batch: UUID) -> Done:
    """Take a batch out of the line, so that the next ones are sent. Raises NotSetAsideError."""
    set_aside.put_aside(subscriber, batch)
    history.record(actor, [subscriber], f"Set aside the batch {batch}")
    return Done(f"{subscriber}: The batch is set aside.")


def send_again(subscriber: Subscriber, actor: Actor, *, batch: UUID) -> Done:
    """Deliver a batch that was set aside. Raises NotSetAsideError."""
    set_aside.send_again(subscriber, batch)
    history.record(actor, [subscriber], f"Sent again the batch {batch}")
    return Done(f"{subscriber}: The batch is being sent again.")


def drop_batch(subscriber: Subscriber, actor: Actor, *, batch: UUID) -> Done:
    """Drop a batch that was set aside; `count`: how many events. Raises NotSetAsideError."""
    events = set_aside.drop_batch(subscriber, batch)
    history.record(actor, [subscriber], f"Dropped the batch {batch}")
    return Done(f"{subscriber}: {amount(events, 'event')} dropped.", events)


def _queued(subscriber: Subscriber) -> str:
    return amount(status_of(subscriber, now=timezone.now()).books.queued, "event")


ACTS = {
    "pause": Act(pause, CHANGE),
    "resume": Act(resume, CHANGE),
    "test": Act(test, CHANGE),
    "redeliver": Act(redeliver, CHANGE),
    "set_aside": Act(put_aside, CHANGE),
    "send_again": Act(send_again, CHANGE),
    "drop_batch": Act(
        drop_batch,
        CHANGE,
        asks=lambda of: f"Drop this batch? {of} will never get its events.",
        button="Drop",
    ),
    "drop": Act(
        _drop,
        CHANGE,
        asks=lambda of: f"Drop the {_queued(of)} waiting for {of}? They will not be delivered.",
        button="Drop waiting events",
    ),
    "remove": Act(
        remove,
        _DELETE,
        asks=lambda of: f"Remove {of}? What waits for it, {_queued(of)}, is dropped.",
        button="Remove",
        leaves=True,
    ),
}
# They also take the `batch` that they are about, by its webhook-id.
ACTS_ON_BATCHES = frozenset(("redeliver", "set_aside", "send_again", "drop_batch"))
