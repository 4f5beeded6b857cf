-- Delete the next due buckets in which no key is alive any more, a thousand at a time.
-- A claim clears the dead buckets that it meets, which in a queue of single keys are few.
WITH near AS MATERIALIZED (
    SELECT ctid AS place, stamp, keys FROM {bucket}
    WHERE due_at <= now() ORDER BY due_at, id LIMIT 1000
),
dead AS MATERIALIZED (
    SELECT place FROM near
    WHERE NOT EXISTS (
        SELECT FROM {job} j WHERE j.key = ANY(near.keys) AND j.stamp = near.stamp
    )
),
-- SKIP LOCKED: a rival that holds one clears it. By place: a bucket that was claimed meanwhile is
-- not found there.
free AS MATERIALIZED (
    SELECT locked.place FROM dead CROSS JOIN LATERAL (
        SELECT ctid AS place FROM {bucket} WHERE ctid = dead.place FOR UPDATE SKIP LOCKED
    ) AS locked
)
DELETE FROM {bucket} WHERE ctid = ANY(ARRAY(SELECT place FROM free))
