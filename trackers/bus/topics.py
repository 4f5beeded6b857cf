"""Topics as clients see them: claimed by their first publisher, and listed.

A topic exists while somebody publishes or subscribes to it. The row of a deleted topic stays, since
its events may still wait for delivery.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from trackers.events.fan_out import fan_out_all
from trackers.outbox.models import Topic
from tweetwatch.database import cursor

NO_TOPIC = "There is no such topic."

_FIND_PUBLISHER = "SELECT publisher FROM trackers_topic WHERE name = %(name)s AND publisher <> ''"
# The first is the publisher; the second waits for the first one's commit and gets its name.
_CLAIM_TOPIC = """
    INSERT INTO trackers_topic AS t (name, publisher) VALUES (%(name)s, %(publisher)s)
    ON CONFLICT (name) DO UPDATE
    SET publisher = CASE t.publisher WHEN '' THEN excluded.publisher ELSE t.publisher END
    RETURNING publisher
"""


@dataclass(frozen=True, slots=True)
class ListedTopic:
    name: str
    publisher: str | None
    events: int


def claim_topic(name: str, publisher: str) -> bool:
    """Whether this client is the topic's publisher; if there is none yet, it becomes one."""
    params = {"name": name, "publisher": publisher}
    with cursor() as db:
        row: Any = (
            db.execute(_FIND_PUBLISHER, params).fetchone()
            or db.execute(_CLAIM_TOPIC, params).fetchone()
        )
    return bool(row[0] == publisher)


def known_topics() -> QuerySet[Topic]:
    return Topic.objects.filter(Q(wanted=True) | ~Q(publisher=""))


def list_topics() -> list[ListedTopic]:
    """All of them by name, with every event so far counted."""
    with transaction.atomic():
        fan_out_all()
        topics = known_topics().order_by("name")
        rows = list(topics.values_list("name", "publisher", "events"))
    return [ListedTopic(name, publisher or None, events) for name, publisher, events in rows]
