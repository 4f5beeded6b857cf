-- Jobs that are in no bucket, or in several; with %(mend)s each goes into a new one, at its time.
WITH piece AS MATERIALIZED (
    SELECT key, stamp, strikes FROM {job}
    WHERE key > %(after)s AND key <= %(until)s ORDER BY key LIMIT %(size)s
),
-- LIMIT in the subquery keeps the planner on the index on stamps, whatever the statistics say.
wrong AS MATERIALIZED (
    SELECT p.key, p.stamp, of.entries
    FROM piece p CROSS JOIN LATERAL (
        SELECT count(*) AS entries FROM (
            SELECT FROM {bucket} b WHERE b.stamp = p.stamp AND p.key = ANY(b.keys) LIMIT 2
        ) AS found
    ) AS of
    WHERE p.strikes < {max_strikes} AND of.entries <> 1
    ORDER BY p.key
),
-- Locks: the jobs, in the order of keys. A job that was moved between the snapshot and its lock has
-- another stamp, and a bucket, so it is skipped.
held AS MATERIALIZED (
    SELECT job.place
    FROM wrong CROSS JOIN LATERAL (
        SELECT ctid AS place FROM {job} j
        WHERE %(mend)s AND j.key = wrong.key AND j.stamp IS NOT DISTINCT FROM wrong.stamp
        FOR UPDATE
    ) AS job
),
-- The new stamp makes all old entries of a key dead, so that the new one is the only one, and ends
-- a claim on it.
put AS (
    UPDATE {job}
    SET due_at = date_trunc('second', due_at),
        stamp = %(stamp)s + floor(extract(epoch FROM due_at))::bigint
    WHERE ctid = ANY(ARRAY(SELECT place FROM held))
    RETURNING *
),
again AS ({into_buckets})
SELECT max(key), count(*), (SELECT count(*) FROM wrong WHERE entries = 0),
       (SELECT count(*) FROM wrong WHERE entries > 1)
FROM piece
