-- Seconds until a batch is ready, 0 or less: now. Null: nothing is scheduled, or it is paused.
-- Ready: as many are due as fill a request, or the oldest has waited for buffer_ttl.
SELECT CASE WHEN n.paused THEN NULL ELSE extract(epoch FROM greatest(
           n.held_until,
           oldest.due_at,
           least(filling.due_at, oldest.due_at + n.buffer_ttl)
       ) - now())::float8 END
FROM trackers_queue n
-- However many wait, it reads the first bucket of the index and those that fill a request. The
-- lower bound skips the dead rows that earlier claims left at the head.
CROSS JOIN LATERAL (
    SELECT due_at FROM {bucket} WHERE due_at >= %(low)s::timestamptz
    ORDER BY due_at LIMIT 1
) oldest
LEFT JOIN LATERAL (
    SELECT due_at
    FROM (
        SELECT due_at, sum(cardinality(keys)) OVER (
                   ORDER BY due_at ROWS UNBOUNDED PRECEDING) AS upto
        FROM (
            SELECT due_at, keys FROM {bucket} WHERE due_at >= %(low)s::timestamptz
            ORDER BY due_at LIMIT least(n.batch_size, {most_keys}, {request_keys})
        ) AS head
    ) AS line
    WHERE upto >= least(n.batch_size, {most_keys}, {request_keys})
    ORDER BY upto LIMIT 1
) filling ON true
WHERE n.name = %(queue)s
