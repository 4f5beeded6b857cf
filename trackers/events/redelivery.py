"""Deliver again: the events of a period, one batch of the log, or a test.

The events of a period are staged for the one subscriber and then treated like all events: its
filters apply, they count as added, and they queue behind what already waits. A batch of the log and
a test are sent at once and once, however that ends, and count nowhere (`EventBatch.Kind`).
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from trackers.events.models import Subscriber
from tweetwatch.database import cursor
from tweetwatch.statements import statement

# Events of the topics that it subscribes to now, as far as they are still kept, but no tests, which
# alone have this address. As when they were first stored, each staged row has the events of one
# transaction.
_NO_TEST = "(e.type, e.url) IS DISTINCT FROM ('noop', '/')"
_IN_TIME = f"""
    FROM trackers_event e
    WHERE e.received_at >= %(since)s AND e.received_at < %(until)s
      AND e.topic_id = ANY(ARRAY(
          SELECT topic_id FROM trackers_subscription WHERE subscriber_id = %(subscriber)s))
      AND {_NO_TEST}
"""
# The LIMIT bounds the events that are looked at, not those that are found.
_COUNT_REPLAY = f"""
    SELECT count(*) FILTER (WHERE {_NO_TEST} AND e.topic_id = ANY(ARRAY(
               SELECT topic_id FROM trackers_subscription WHERE subscriber_id = %(subscriber)s))),
           count(*)
    FROM (
        SELECT topic_id, type, url FROM trackers_event
        WHERE received_at >= %(since)s AND received_at < %(until)s LIMIT %(most)s
    ) e
"""
_REPLAY = f"""
    WITH staged AS (
        INSERT INTO trackers_staged (received_at, events, only_for)
        SELECT e.received_at, array_agg(e.id ORDER BY e.id), %(subscriber)s
        {_IN_TIME} GROUP BY e.received_at ORDER BY e.received_at
        RETURNING cardinality(events) AS n
    )
    SELECT coalesce(sum(n), 0) FROM staged
"""

_REDELIVER = statement(__file__, "redeliver")

_TEST = statement(__file__, "send_test")


# The limit for the page and the API; the command replays any number.
MOST_REPLAYED = 500_000


class TooManyError(ValueError):
    """The period has more events than one replay delivers."""

    def __init__(self) -> None:
        super().__init__(
            f"There were more than {MOST_REPLAYED:,} events in that time. Choose a shorter one, "
            "or use manage.py subscriber replay."
        )


class NoSuchBatchError(LookupError):
    """The log of attempts has no such batch of this subscriber."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(f"The log, which goes back 7 days, has no attempt to deliver {uid}.")


def count_replay(
    subscriber: Subscriber, since: datetime, until: datetime, *, most: int | None = None
) -> int:
    """How many events a replay of [since, until) looks at, before its filters.

    TooManyError when there are more than `most` in all topics.
    """
    looks = None if most is None else most + 1
    events, looked_at = _select_row(
        _COUNT_REPLAY, subscriber=subscriber.pk, since=since, until=until, most=looks
    )
    if most is not None and looked_at > most:
        raise TooManyError
    return events


def stage_replay(subscriber: Subscriber, since: datetime, until: datetime) -> int:
    """Deliver the events of [since, until) again; return how many, before its filters."""
    return _select_row(_REPLAY, subscriber=subscriber.pk, since=since, until=until)[0]


def redeliver(subscriber: Subscriber, uid: UUID) -> int:
    """Send a batch once more, under its id; return how many of its events are still kept."""
    found, events = _select_row(_REDELIVER, subscriber=subscriber.pk, uid=uid)
    if not found:
        raise NoSuchBatchError(uid)
    return events


def test(subscriber: Subscriber) -> None:
    """Send it a test event, which means nothing."""
    with cursor() as db:
        db.execute(_TEST, {"subscriber": subscriber.pk})


def _select_row(statement: str, **given: object) -> tuple[int, ...]:
    with cursor() as db:
        row = db.execute(statement, given).fetchone()
    assert row is not None
    return tuple(map(int, row))
