"""What its own answers do to a subscriber: it is disabled, until somebody enables it again."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction

from trackers.events.models import HEALTHY, Subscriber, SubscriberState
from trackers.outbox.models import ALERTS_TOPIC
from trackers.outbox.publish import NewEvent, publish_events
from tweetwatch.database import cursor

# A successful delivery clears `failing_since`.
# Locks: the subscribers' states, in the order of ids, as the deliveries do.
_DISABLE = """
    UPDATE trackers_subscriberstate st
    SET disabled_at = clock_timestamp(),
        disabled_reason = 'Nothing but failures since '
            || to_char(failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC.'
    FROM (
        SELECT s.id, s.name
        FROM trackers_subscriber s JOIN trackers_subscriberstate st ON st.subscriber_id = s.id
        WHERE s.removed_at IS NULL AND st.disabled_at IS NULL
          AND st.failing_since < clock_timestamp() - %(after)s
        ORDER BY s.id FOR UPDATE OF st
    ) held
    WHERE st.subscriber_id = held.id
    RETURNING held.id, held.name, st.disabled_reason
"""


def enable(subscriber: Subscriber) -> None:
    """Enable it if it was disabled, and forget its failures."""
    SubscriberState.objects.filter(pk=subscriber.pk).exclude(disabled_at=None).update(
        disabled_at=None,
        disabled_reason="",
        failing_since=None,
        not_before=None,
        health=HEALTHY,
    )


def disable_failing(*, after: timedelta) -> list[str]:
    """Disable subscribers whose deliveries have all failed for this long; return their names.

    Their events are kept. Each one disabled is an alert for other subscribers.
    """
    with transaction.atomic():
        with cursor() as db:
            disabled = db.execute(_DISABLE, {"after": after}).fetchall()
        publish_events(
            [
                NewEvent(
                    ALERTS_TOPIC,
                    "create",
                    url="/subscribers/",
                    data={"subscriber": name, "what": why},
                )
                for _, name, why in disabled
            ]
        )
    return [name for _, name, _ in disabled]
