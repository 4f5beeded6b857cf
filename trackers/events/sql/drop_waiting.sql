-- Drops and counts what still waits. Deliveries that are on their way end by themselves.
WITH state AS MATERIALIZED (
    SELECT subscriber_id FROM trackers_subscriberstate
    WHERE subscriber_id = %(subscriber)s FOR UPDATE
),
dropped AS (
    DELETE FROM trackers_eventbatch
    WHERE subscriber_id = ANY(ARRAY(SELECT subscriber_id FROM state)) AND state <> 'pending'
    RETURNING kind, cardinality(events) AS n, bytes
)
UPDATE trackers_subscriberstate
SET dropped = dropped + of.n, waiting_batches = waiting_batches - of.batches,
    waiting_bytes = waiting_bytes - of.bytes
FROM (
    SELECT coalesce(sum(n), 0) AS n, count(*) AS batches, coalesce(sum(bytes), 0) AS bytes
    FROM dropped WHERE kind = 'events'
) of
WHERE subscriber_id = ANY(ARRAY(SELECT subscriber_id FROM state))
RETURNING of.n
