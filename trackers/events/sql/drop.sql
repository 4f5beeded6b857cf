-- Locks: states of subscribers in the order of ids, then batches, as everywhere.
WITH
-- The oldest first, along an index; batches on their way stay, as do the few that a person sent, and
-- current ones go last. No more than it takes: a batch goes only if those before it are too few
-- bytes.
oldest AS MATERIALIZED (
    SELECT id, subscriber_id FROM (
        SELECT id, subscriber_id, kind,
               sum(bytes) OVER (ORDER BY is_current, made_at, id) - bytes AS ahead
        FROM (
            SELECT id, subscriber_id, is_current, made_at, bytes, kind FROM trackers_eventbatch
            WHERE state <> 'pending'
            ORDER BY is_current, made_at, id LIMIT %(most)s
        ) first
    ) waiting
    WHERE ahead < %(excess)s AND kind = 'events'
),
state AS MATERIALIZED (
    SELECT subscriber_id FROM trackers_subscriberstate
    WHERE subscriber_id = ANY(ARRAY(SELECT DISTINCT subscriber_id FROM oldest))
    ORDER BY subscriber_id FOR UPDATE
),
gone AS (
    DELETE FROM trackers_eventbatch
    WHERE ctid = ANY(ARRAY(
        SELECT b.ctid FROM oldest CROSS JOIN LATERAL (
            SELECT ctid FROM trackers_eventbatch
            WHERE id = oldest.id AND state <> 'pending' FOR UPDATE SKIP LOCKED
        ) b
        WHERE oldest.subscriber_id = ANY(ARRAY(SELECT subscriber_id FROM state))))
    RETURNING subscriber_id, cardinality(events) AS n, bytes
),
counted AS (
    UPDATE trackers_subscriberstate st
    SET dropped = st.dropped + of.n, waiting_batches = st.waiting_batches - of.batches,
        waiting_bytes = st.waiting_bytes - of.bytes
    FROM (
        SELECT subscriber_id, sum(n) AS n, count(*) AS batches, sum(bytes) AS bytes
        FROM gone GROUP BY subscriber_id
    ) of
    WHERE st.subscriber_id = of.subscriber_id
)
SELECT coalesce(sum(n), 0), coalesce(sum(bytes), 0) FROM gone
