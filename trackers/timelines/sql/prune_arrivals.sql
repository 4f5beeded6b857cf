-- Old arrivals of all origins, as some bring nothing more: those of some origins at a time.
WITH
-- Locks: the marks, in the order of origins; they exclude deliveries.
held AS MATERIALIZED (
    SELECT origin_id, number FROM trackers_deliverymark WHERE origin_id > %(after)s
    ORDER BY origin_id LIMIT 20 FOR UPDATE SKIP LOCKED
),
-- If an origin's oldest arrival is young, its others are not read.
gone AS (
    DELETE FROM trackers_arrival a
    USING held CROSS JOIN LATERAL (
        SELECT number FROM (
            SELECT number, came_at FROM trackers_arrival
            WHERE origin_id = held.origin_id AND number <= held.number
              AND (SELECT came_at FROM trackers_arrival WHERE origin_id = held.origin_id
                   ORDER BY number LIMIT 1) < now() - %(kept)s::interval
            ORDER BY number LIMIT 1000
        ) oldest WHERE came_at < now() - %(kept)s::interval
    ) old
    WHERE a.origin_id = held.origin_id AND a.number = old.number
    RETURNING 1
)
SELECT max(origin_id), (SELECT count(*) FROM gone) FROM held
