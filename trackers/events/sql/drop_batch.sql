-- Locks: the state of the subscriber, then the batch, as everywhere.
WITH state AS MATERIALIZED (
    SELECT subscriber_id FROM trackers_subscriberstate
    WHERE subscriber_id = %(subscriber)s FOR UPDATE
),
dropped AS (
    DELETE FROM trackers_eventbatch
    WHERE subscriber_id = ANY(ARRAY(SELECT subscriber_id FROM state)) AND place < 0
      AND uid = %(uid)s
    RETURNING cardinality(events) AS n, bytes
)
UPDATE trackers_subscriberstate
SET dropped = dropped + of.n, waiting_batches = waiting_batches - 1,
    waiting_bytes = waiting_bytes - of.bytes
FROM dropped of
WHERE subscriber_id = ANY(ARRAY(SELECT subscriber_id FROM state))
RETURNING of.n
