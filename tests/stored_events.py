"""What was stored of our topics, as it will be given to those who subscribe."""

from typing import NamedTuple

from trackers.outbox.models import Event, Staged, Topic
from tweetwatch.database import cursor


class StoredEvent(NamedTuple):
    type: str
    tweet_id: int | None
    t: int
    figures: list[int | None] | None
    data: object


def subscribe(*topics):
    """As if somebody did."""
    Topic.objects.update(wanted=False)
    Topic.objects.filter(name__in=topics).update(wanted=True)


_WRITE_STAGED = """
    WITH written AS (
        INSERT INTO trackers_event (id, received_at, topic_id, type, t, tweet_id, figures)
        SELECT u.id, s.received_at, topic.id, u.type, u.t, u.tweet_id, u.figures
        FROM trackers_staged s CROSS JOIN unnest(s.updates) u
        JOIN trackers_topic topic ON topic.name = 'tweets'
    )
    UPDATE trackers_staged SET updates = NULL
"""


def events_of(topic="tweets"):
    """In the order in which it is spread."""
    with cursor() as db:
        db.execute(_WRITE_STAGED)
    events = {event.id: event for event in Event.objects.filter(topic__name=topic)}
    order = [id for one in Staged.objects.order_by("id") for id in one.events]
    assert {*order} == {*Event.objects.values_list("id", flat=True)}
    return [
        StoredEvent(one.type, one.tweet_id, one.t, one.figures, one.data)
        for one in (events[id] for id in order if id in events)
    ]


def kinds(topic="tweets"):
    return [(one.type, one.tweet_id) for one in events_of(topic)]


def ms(at):
    return int(at.timestamp() * 1000)
