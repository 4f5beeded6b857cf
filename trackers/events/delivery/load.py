"""Load what will be sent: claimed batches with their subscribers' addresses and their bodies.

claimed ids ─> subscribers, events (one statement each) ─> shapes ─> Delivery
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from trackers.credentials.secrets import SecretUnreadableError, decrypt
from trackers.events.delivery.claim import Claimed
from trackers.events.delivery.formats import EventRow, Shape
from trackers.events.delivery.settle import Outcome
from trackers.xapi.keys import Secrets
from tweetwatch.database import compact_sql, cursor

# Secrets as text, so that an error in decrypting one affects only its own subscriber.
_SUBSCRIBERS = """
    SELECT id, callback, secrets, format, with_data
    FROM trackers_subscriber WHERE id = ANY(%(ids)s)
"""
# One scan of the key per batch, only in the partitions of its days; one search per event read fifty
# times as many pages. OFFSET 0 is a fence: otherwise the planner may read whole partitions.
_EVENTS_OF_BATCHES = compact_sql(
    """
    SELECT e.id, topic.name, e.type, e.t, e.tweet_id, e.url, e.figures, e.data::text, s.scores, b.id
    FROM (
        SELECT b.id, events, first_at, last_at, with_data
        FROM trackers_eventbatch b JOIN trackers_subscriber to_whom ON to_whom.id = subscriber_id
        WHERE b.id = ANY(%(batches)s) AND lease = ANY(%(leases)s)
    ) b
    CROSS JOIN LATERAL (
        SELECT id, topic_id, type, t, tweet_id, url, figures, data FROM trackers_event
        WHERE id = ANY(b.events) AND received_at BETWEEN b.first_at AND b.last_at OFFSET 0
    ) e
    JOIN trackers_topic topic ON topic.id = e.topic_id
    LEFT JOIN LATERAL (
        SELECT ARRAY[retweets, replies, likes, quotes, bookmarks, views] AS scores
        FROM trackers_score
        WHERE b.with_data AND e.figures IS NOT NULL AND tweet_id = e.tweet_id LIMIT 1
    ) s ON true
    """
)
_NO_EVENTS = "Its events are no longer kept."


@dataclass(frozen=True, slots=True)
class Delivery:
    batch: Claimed  # without its events: they are in the body
    callback: str
    content_type: str
    body: bytes
    secrets: Secrets = field(repr=False)


@dataclass(frozen=True, slots=True)
class Loaded:
    deliveries: list[Delivery]
    impossible: list[Outcome]  # batches that cannot be sent, and why


@dataclass(frozen=True, slots=True)
class Receiver:
    callback: str
    secrets: Secrets | None
    shape: Shape


def load(claimed: Sequence[Claimed], *, public_url: str) -> Loaded:
    receivers = _receivers_of({batch.subscriber_id for batch in claimed}, public_url=public_url)
    events = _events_of(claimed)
    loaded = Loaded([], [])
    for batch in claimed:
        receiver = receivers.get(batch.subscriber_id)
        if receiver is None:
            # The subscriber was removed, with all its batches.
            continue
        if receiver.secrets is None:
            loaded.impossible.append(_unsent(batch, str(SecretUnreadableError())))
        elif not (events_of_batch := events.get(batch.id)):
            loaded.impossible.append(_unsent(batch, _NO_EVENTS))
        else:
            loaded.deliveries.append(
                _delivery_of(batch, receiver, receiver.secrets, events_of_batch)
            )
    return loaded


def _delivery_of(
    batch: Claimed, to: Receiver, secrets: Secrets, events: Sequence[EventRow]
) -> Delivery:
    body = to.shape.body_of(events)
    return Delivery(replace(batch, events=[]), to.callback, to.shape.content_type, body, secrets)


def _unsent(batch: Claimed, why: str) -> Outcome:
    return Outcome(batch, delivered=False, took=timedelta(0), error=why)


def _receivers_of(ids: set[int], *, public_url: str) -> Mapping[int, Receiver]:
    with cursor() as db:
        rows = db.execute(_SUBSCRIBERS, {"ids": sorted(ids)}).fetchall()
    return {
        id: Receiver(callback, _decrypted_or_none(token), Shape(format, with_data, public_url))
        for id, callback, token, format, with_data in rows
    }


def _decrypted_or_none(token: str) -> Secrets | None:
    try:
        return decrypt(token)
    except SecretUnreadableError:
        return None


def _events_of(claimed: Sequence[Claimed]) -> Mapping[int, list[EventRow]]:
    """The events of each batch, in its order; batches that were claimed again are left out."""
    params = {
        "batches": [batch.id for batch in claimed],
        "leases": list({batch.lease for batch in claimed}),
    }
    events_by_batch: defaultdict[int, dict[int, EventRow]] = defaultdict(dict)
    with cursor() as db:
        rows = db.execute(_EVENTS_OF_BATCHES, params).fetchall()
    for row in rows:
        events_by_batch[row[-1]][row[0]] = EventRow._make(row[:-1])
    return {
        batch.id: [events_of_batch[id] for id in batch.events if id in events_of_batch]
        for batch in claimed
        if (events_of_batch := events_by_batch.get(batch.id))
    }
