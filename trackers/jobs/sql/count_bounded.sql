-- Each count ends at %(most)s, and ORDER BY has it walk the one index it is meant for. A bucket
-- counts as many keys as live in it: LIMIT, so that each is found by its key, whatever the
-- statistics say.
SELECT now(), least(%(most)s, head.due + unfinished.again),
    greatest(0, head.oldest, unfinished.oldest)::float8, ahead.claimed, ahead.walked,
    -- Isolated: by their own index.
    (SELECT count(*) FROM (
        SELECT FROM {job} WHERE strikes >= {max_strikes} ORDER BY key LIMIT %(most)s) AS isolated),
    (SELECT count(*) FROM (SELECT FROM {job} LIMIT %(most)s) AS scheduled),
    -- The planner's estimate is of the whole table; below 0 it was never analyzed.
    (SELECT reltuples::bigint FROM pg_class WHERE oid = %(table)s::text::regclass),
    -- Urgent: those that come first under backlog, by one probe of their own index, and among the
    -- unfinished.
    greatest(0, unfinished.oldest_urgent, (
        SELECT extract(epoch FROM now() - due_at) FROM {bucket}
        WHERE urgent AND {urgent_at} <= now() ORDER BY {urgent_at} LIMIT 1))::float8
FROM (
    SELECT count(*) AS due, extract(epoch FROM now() - min(due_at)) AS oldest
    FROM (
        SELECT b.due_at FROM (
            SELECT due_at, stamp, keys FROM {bucket} WHERE due_at <= now()
            ORDER BY due_at LIMIT %(most)s
        ) AS b CROSS JOIN LATERAL unnest(b.keys) AS entry(key) CROSS JOIN LATERAL (
            SELECT FROM {job} j WHERE j.key = entry.key AND j.stamp = b.stamp LIMIT 1
        ) AS live
        LIMIT %(most)s
    ) AS due
) AS head, (
    -- Unfinished: what was claimed before, in a worker's hands or given back. These have been
    -- waiting since they were first due. Those given back to wait a little count as due too.
    SELECT count(*) FILTER (WHERE lease IS NULL AND due_at > now()) AS again,
           extract(epoch FROM now() - min(due_since)) AS oldest,
           extract(epoch FROM now() - min(due_since) FILTER (WHERE urgent)) AS oldest_urgent
    FROM (
        SELECT b.due_at, b.due_since, b.lease, b.urgent FROM (
            SELECT due_at, due_since, lease, urgent, stamp, keys FROM {bucket}
            WHERE due_since IS NOT NULL
            ORDER BY due_since LIMIT %(most)s
        ) AS b CROSS JOIN LATERAL unnest(b.keys) AS entry(key) CROSS JOIN LATERAL (
            SELECT FROM {job} j WHERE j.key = entry.key AND j.stamp = b.stamp LIMIT 1
        ) AS live
        LIMIT %(most)s
    ) AS begun
) AS unfinished, (
    -- In flight: leases that have not run out lie within the longest lease from now.
    SELECT count(lease) AS claimed, count(*) AS walked
    FROM (
        SELECT b.lease FROM (
            SELECT due_at, lease, stamp, keys FROM {bucket}
            WHERE due_at > now() AND due_at <= now() + (
                SELECT lease FROM trackers_queue WHERE name = %(queue)s)
            ORDER BY due_at LIMIT %(most)s
        ) AS b CROSS JOIN LATERAL unnest(b.keys) AS entry(key) CROSS JOIN LATERAL (
            SELECT FROM {job} j WHERE j.key = entry.key AND j.stamp = b.stamp LIMIT 1
        ) AS live
        LIMIT %(most)s
    ) AS soon
) AS ahead
