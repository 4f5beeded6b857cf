WITH alive AS (
    SELECT * FROM unnest(%(kinds)s::text[], %(pids)s::int[], %(ages)s::float8[])
        AS alive (kind, pid, age)
),
-- A new worker writes its row before the sentinel reports it: hence the five seconds.
gone AS (
    DELETE FROM trackers_worker
    WHERE cluster = %(cluster)s AND host = %(host)s
        AND pid <> ALL (%(known)s::int[]) AND seen_at < now() - interval '5 seconds'
)
-- The main row keeps the newest done_at of all, or it would be lost with a recycled worker; the
-- subquery still sees the rows that `gone` deletes.
INSERT INTO trackers_worker AS was
    (cluster, host, pid, kind, started_at, seen_at, doing, done_at)
SELECT %(cluster)s, %(host)s, pid, kind, now() - make_interval(secs => age), now(), '',
    CASE WHEN kind = 'main' THEN
        (SELECT max(done_at) FROM trackers_worker WHERE cluster = %(cluster)s)
    END
FROM alive
ON CONFLICT (cluster, host, pid) DO UPDATE SET
    kind = excluded.kind, started_at = excluded.started_at, seen_at = excluded.seen_at,
    done_at = coalesce(excluded.done_at, was.done_at)
