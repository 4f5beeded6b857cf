WITH wished AS MATERIALIZED (
    SELECT DISTINCT ON (a.key) a.key, a.urgent,
           now() + a.delay + (%(start)s + floor(
               10 * a.place / n.arrivals_per_second::float8) / 10) * interval '1 second'
           AS due_at
    FROM arrivals a CROSS JOIN trackers_queue n
    WHERE n.name = %(queue)s
    ORDER BY a.key, a.place DESC
),
-- Keys in the same tenth of a second are due together: at a thousand a second that fills a bucket.
stamped AS MATERIALIZED (
    SELECT *, %(stamp)s + {of_slot}
              + (row_number() OVER (PARTITION BY due_at ORDER BY key) - 1) / {bucket_keys}
              AS stamp
    FROM wished
),
-- Locks: in the order of keys, as in every statement that locks many rows of a queue.
put AS (
    INSERT INTO {job} (key, due_at, urgent, stamp)
    SELECT key, due_at, urgent, stamp FROM stamped ORDER BY key
    ON CONFLICT (key) DO UPDATE
    SET due_at = excluded.due_at, stamp = excluded.stamp, strikes = 0,
        urgent = excluded.urgent
    RETURNING *
)
{into_buckets}
