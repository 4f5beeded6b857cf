-- {cut}: the fence. Jobs by ctid alone: with statistics from when the queue was empty, a join on
-- the key would walk the whole index.
WITH {cut},
ended AS (
    DELETE FROM {bucket}
    WHERE ctid = ANY(ARRAY(SELECT place FROM cut WHERE stay IS NULL))
),
next AS MATERIALIZED (
    SELECT place, delay
    FROM ours
    LEFT JOIN unnest(%(moved)s::bigint[], %(delays)s::interval[]) AS given(key, delay)
        USING (key)
),
put AS (
    UPDATE {job} j SET due_at = now() + next.delay, strikes = 0, stamp = %(stamp)s
    FROM next
    WHERE j.ctid = ANY(ARRAY(SELECT place FROM next WHERE delay IS NOT NULL))
      AND j.ctid = next.place
    RETURNING j.*
),
again AS ({into_buckets}),
over AS (
    DELETE FROM {job} WHERE ctid = ANY(ARRAY(SELECT place FROM next WHERE delay IS NULL))
)
SELECT key FROM ours
