-- From the newest attempt of the batch, with its id; before all that waits in line. Events that are
-- no longer kept are left out.
WITH attempt AS MATERIALIZED (
    SELECT events, first_at, last_at FROM trackers_attempt
    WHERE subscriber_id = %(subscriber)s AND uid = %(uid)s AND events <> '{}'
    ORDER BY id DESC LIMIT 1
),
again AS (
    INSERT INTO trackers_eventbatch (uid, subscriber_id, state, kind, place, events, keys, bytes,
                                     first_at, last_at, deadline)
    SELECT %(uid)s, s.id, 'ready', 'redelivery', 0, e.events, e.keys, 0, e.first_at, e.last_at,
           clock_timestamp()
    FROM trackers_subscriber s CROSS JOIN LATERAL (
        SELECT array_agg(kept.id ORDER BY told.nth) AS events,
               array_agg(0::bigint) AS keys,
               min(kept.received_at) AS first_at, max(kept.received_at) AS last_at
        FROM attempt CROSS JOIN LATERAL
             unnest(attempt.events) WITH ORDINALITY AS told(id, nth)
        CROSS JOIN LATERAL (
            SELECT id, received_at FROM trackers_event
            WHERE id = told.id AND received_at BETWEEN attempt.first_at AND attempt.last_at
        ) kept
    ) e
    WHERE s.id = %(subscriber)s AND s.removed_at IS NULL AND e.events IS NOT NULL
    RETURNING cardinality(events) AS n
)
SELECT (SELECT count(*) FROM attempt), coalesce(sum(n), 0) FROM again
