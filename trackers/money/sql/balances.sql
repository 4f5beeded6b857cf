SELECT p.id, p.name, p.x_now, {posts_left}, p.reserved_for_younger,
       (p.rationed_at AT TIME ZONE 'UTC')::date,
       (p.depleted_until IS NULL OR p.depleted_until <= statement_timestamp())
       AND keys.are_there IS NOT NULL,
       coalesce(keys.are_good, false),
       coalesce(windows.requests, {unknown}), p.x_now - statement_timestamp(),
       p.rationing_requested_at
FROM (SELECT p.*, {x_now} AS x_now FROM trackers_project p) p
CROSS JOIN LATERAL (
    SELECT bool_or(true) AS are_there,
           bool_or(c.retry_at IS NULL OR c.retry_at <= statement_timestamp()) AS are_good
    FROM trackers_credential c JOIN trackers_app a ON a.id = c.app_id
    WHERE a.project_id = p.id AND c.disabled_at IS NULL
) keys
CROSS JOIN LATERAL (
    SELECT sum(CASE WHEN w.cooldown_until > statement_timestamp() THEN 0
                    WHEN w.resets_at > statement_timestamp()
                                       + coalesce(w.seen_at - w.learned_at, interval '0')
                    THEN greatest(0, w.remaining - cardinality(w.under_way)
                                                 - cardinality(w.lost))
                    ELSE {unknown} END) AS requests
    FROM trackers_window w JOIN trackers_app a ON a.id = w.app_id
    WHERE a.project_id = p.id AND w.endpoint = ANY(%(endpoints)s)
) windows
CROSS JOIN LATERAL ({spent}) s
ORDER BY p.id
