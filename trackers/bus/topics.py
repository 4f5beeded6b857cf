"""Topics as clients see them: claimed by their first publisher, listed, deleted.

A topic exists while somebody publishes or subscribes to it. The row of a deleted topic stays, since
its events may still wait for delivery.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Q

from trackers.bus.auth import Caller
from trackers.events.fan_out import fan_out_all
from trackers.events.models import Subscription
from trackers.outbox.models import OUR_PUBLISHER, Topic
from tweetwatch.database import cursor
from tweetwatch.http.refusals import Refused

NO_TOPIC = "There is no such topic."

_EXISTS = Q(wanted=True) | ~Q(publisher="")

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


def list_topics() -> list[ListedTopic]:
    """All of them by name, with every event so far counted."""
    with transaction.atomic():
        fan_out_all()
        topics = Topic.objects.filter(_EXISTS).order_by("name")
        rows = list(topics.values_list("name", "publisher", "events"))
    return [ListedTopic(name, publisher or None, events) for name, publisher, events in rows]


def delete_topic(name: str, caller: Caller) -> None:
    """Nobody publishes or subscribes to it any more; what waits is still delivered."""
    with transaction.atomic():
        fan_out_all()
        topic = Topic.objects.filter(_EXISTS, name=name).select_for_update(no_key=True).first()
        if topic is None:
            raise LookupError(NO_TOPIC)
        if topic.publisher == OUR_PUBLISHER:
            raise Refused(403, "This topic is reserved for tweetwatch itself.")
        if not caller.is_root and topic.publisher != caller.name:
            raise Refused(403, "This topic is not yours: only its publisher or root may delete it.")
        Subscription.objects.filter(topic=topic).delete()
        Topic.objects.filter(pk=topic.pk).update(publisher="", wanted=False, events=0)
