-- From the newest attempt of the batch. Events that are no longer kept are left out.
WITH attempt AS MATERIALIZED (
    SELECT events, first_at, last_at FROM trackers_attempt
    WHERE subscriber_id = %(subscriber)s AND uid = %(uid)s AND events <> '{}'
    ORDER BY id DESC LIMIT 1
),
staged AS (
    INSERT INTO trackers_staged (received_at, events, only_for)
    SELECT e.received_at, array_agg(e.id ORDER BY told.nth), %(subscriber)s
    FROM attempt CROSS JOIN LATERAL unnest(attempt.events) WITH ORDINALITY AS told(id, nth)
    CROSS JOIN LATERAL (
        SELECT id, received_at FROM trackers_event
        WHERE id = told.id AND received_at BETWEEN attempt.first_at AND attempt.last_at
    ) e
    GROUP BY e.received_at ORDER BY min(told.nth)
    RETURNING cardinality(events) AS n
)
SELECT (SELECT count(*) FROM attempt), coalesce(sum(n), 0) FROM staged
