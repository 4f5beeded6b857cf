"""A million queued events: how long a claim takes among them, and what they are to `deliver`."""

from __future__ import annotations

import json
import time
from datetime import timedelta

from tests.benchmarks.events.crowd import crowd
from tests.benchmarks.events.receivers import Receivers
from trackers.events.delivery.claim import claim_batches, give_back
from tweetwatch.database import cursor

TOPIC, BATCH, BATCHES = "queued", 100, 10
LEASE = timedelta(minutes=1)
SLOTS = 200
EVENTS = """
    INSERT INTO trackers_event (topic_id, type, t, url)
    SELECT topic.id, 'create', n - 1, 'https://bench.example/' || n
    FROM trackers_topic topic, generate_series(1, %(events)s::int) n WHERE topic.name = %(topic)s
"""
# Each subscriber has the same ones, in ten batches of a hundred.
BATCHED = """
    INSERT INTO trackers_eventbatch (uid, subscriber_id, state, is_current, place, events, keys,
                                     bytes, first_at, last_at, deadline, last_error)
    SELECT gen_random_uuid(), one.subscriber_id, 'ready', false, part.at, part.ids,
           array_fill(0::bigint, ARRAY[cardinality(part.ids)]), 20000,
           part.first_at, part.last_at, now(), ''
    FROM trackers_subscription one JOIN trackers_topic topic ON topic.id = one.topic_id
    CROSS JOIN LATERAL (
        SELECT t / %(batch)s::int AS at, array_agg(id ORDER BY id) AS ids,
               min(received_at) AS first_at, max(received_at) AS last_at
        FROM trackers_event WHERE topic_id = topic.id GROUP BY 1
    ) part
    WHERE topic.name = %(topic)s
"""


def main(*, control: int, subscribers: int, claims: int) -> None:
    with Receivers(control) as receivers:
        crowd(TOPIC, subscribers, receivers)
    with cursor() as db:
        db.execute(EVENTS, {"events": BATCH * BATCHES, "topic": TOPIC})
        db.execute(BATCHED, {"batch": BATCH, "topic": TOPIC})
        db.execute("VACUUM ANALYZE", prepare=False)
    took = []
    for _ in range(claims):
        begun = time.perf_counter()
        claimed = claim_batches(SLOTS, LEASE)
        took.append(1000 * (time.perf_counter() - begun))
        give_back(claimed)
    print(json.dumps({"claims": took, "queued": subscribers * BATCH * BATCHES}))
