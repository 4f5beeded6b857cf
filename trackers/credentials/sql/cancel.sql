-- Requests that were not sent after all. Locks: the windows, in the order of ids.
WITH unsent AS MATERIALIZED (
    SELECT w.id, reserved.times
    FROM trackers_window w JOIN (
        SELECT window_id, array_agg(at) AS times
        FROM unnest(%(windows)s::bigint[], %(times)s::timestamptz[]) AS r(window_id, at)
        GROUP BY window_id
    ) reserved ON reserved.window_id = w.id
    ORDER BY w.id FOR UPDATE OF w
)
UPDATE trackers_window w
SET under_way = ARRAY(SELECT r FROM unnest(w.under_way) r WHERE r <> ALL (unsent.times))
FROM unsent WHERE w.id = unsent.id
