"""Whether a subscriber gets anything now: paused by a person, disabled by its own answers."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from trackers.events.models import HEALTHY, Subscriber, SubscriberState
from trackers.outbox.models import ALERTS
from trackers.outbox.tell import Told, tell
from tweetwatch.database import cursor

# One that is delivered to has no `failing_since`.
DISABLE = """
    UPDATE trackers_subscriberstate st
    SET disabled_at = clock_timestamp(),
        disabled_because = 'Nothing but failures since '
            || to_char(failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC.'
    FROM trackers_subscriber s
    WHERE s.id = st.subscriber_id AND s.removed_at IS NULL AND st.disabled_at IS NULL
      AND st.failing_since < clock_timestamp() - %(after)s
    RETURNING s.id, s.name, st.disabled_because
"""


def pause(subscriber: Subscriber) -> None:
    """What is told is kept for it, and nothing is sent."""
    Subscriber.objects.filter(pk=subscriber.pk, paused_at=None).update(paused_at=Now())


def resume(subscriber: Subscriber) -> None:
    """Send again, from now on, also to one that was disabled."""
    with transaction.atomic():
        Subscriber.objects.filter(pk=subscriber.pk).update(paused_at=None)
        enable(subscriber)


def enable(subscriber: Subscriber) -> None:
    """Forget why it was disabled, and its failures with it."""
    SubscriberState.objects.filter(pk=subscriber.pk).exclude(disabled_at=None).update(
        disabled_at=None,
        disabled_because="",
        failing_since=None,
        not_before=None,
        health=HEALTHY,
    )


def disable_failing(*, after: timedelta) -> list[str]:
    """Disable those to whom every delivery has failed for so long; their names.

    What is told is kept for them, and it is an alert for the others.
    """
    with transaction.atomic():
        with cursor() as db:
            disabled = db.execute(DISABLE, {"after": after}).fetchall()
        tell(
            [
                Told(ALERTS, "create", url="/subscribers/", data={"subscriber": name, "what": why})
                for _, name, why in disabled
            ]
        )
    return [name for _, name, _ in disabled]
