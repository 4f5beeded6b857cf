-- Claim the next batch: one short statement. The lease goes into the buckets' due_at, so that no
-- reaper is needed and what is in flight costs the next claim nothing. The jobs' own rows are only
-- read.
-- MATERIALIZED: without the fence the planner may run a LIMIT more than once and lock more.
-- now(), never clock_timestamp(): a volatile bound cannot be an index condition.
-- By place (ctid), in an array: the planner can only fetch these rows. Not knowing the LIMIT, it
-- expects a tenth of the due rows, and would plan a join as a scan of the whole queue. A row that
-- an update moves meanwhile is not found there, and stays due.
-- {among}: which buckets this claim looks at, all of them or those with fewer strikes.
WITH
-- How many: `size` at the most, which is less while requests are short (`capacity`), in whole requests.
-- `get` (%(limit)s) takes what there is.
-- Not flushed: losing a claim in a crash of the database only repeats a request, and the token is
-- random, so that no later claim gets the same.
knobs AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true), task, lease,
           coalesce(%(buffer_ttl)s::interval, buffer_ttl) AS buffer_ttl,
           most - mod(most, whole) AS size, request, whole,
           (most - mod(most, whole)) * {urgent_share} / 100 AS share
    FROM trackers_queue
    CROSS JOIN LATERAL (
        SELECT coalesce(%(limit)s::int, least(batch_size, {most_keys}, capacity)) AS most
    ) AS all_of_it
    CROSS JOIN LATERAL (SELECT least(most, {request_keys}) AS request) AS part_of_it
    CROSS JOIN LATERAL (
        SELECT CASE WHEN %(limit)s::int IS NULL THEN request ELSE 1 END AS whole
    ) AS step
    WHERE name = %(queue)s AND NOT paused
      AND (held_until IS NULL OR held_until <= now())
),
-- Leases that ran out on a batch that a worker had begun (`begun.py`), and whose keys are to blame.
-- That is known if this process has not lost the database since that batch was claimed, and others
-- could work meanwhile: a batch of the same queue was saved, or, where none was due, of another one.
-- Suspects do not count as due: two keys that kill their workers would protect each other.
-- Few batches are begun at a time, and old marks are removed.
blamed AS MATERIALIZED (
    SELECT m.lease FROM trackers_begunbatch m
    WHERE m.expires_at <= now() AND m.claimed_at >= now() - %(connected)s::interval
      AND (m.queue_saved OR m.others_saved
        -- By the index, whatever the planner thinks of how many there are.
        AND coalesce((
            SELECT o.due_at FROM {bucket} o WHERE o.lease IS NULL AND o.strikes < {suspect_strikes}
            ORDER BY o.due_at, o.id LIMIT 1) > m.expires_at, true)
        -- Claimed before or since.
        AND coalesce((
            SELECT o.due_since FROM {bucket} o
            WHERE o.due_since IS NOT NULL AND o.lease <> m.lease AND o.strikes < {suspect_strikes}
            ORDER BY o.due_since LIMIT 1) > m.expires_at, true))
),
-- Urgent buckets get their share of each batch before the others (URGENT_SHARE).
-- The next ones, with a limit that the planner knows; otherwise it might sort all that are due.
near_urgent AS MATERIALIZED (
    SELECT *, sum(n) OVER (ORDER BY due_at, id ROWS UNBOUNDED PRECEDING) - n AS before
    FROM (
        SELECT * FROM (
            SELECT ctid AS place, id, due_at, cardinality(keys) AS n FROM {bucket}
            WHERE urgent AND {urgent_at} <= now() AND {urgent_at} >= %(low_urgent)s::timestamptz
              AND {among}
            ORDER BY {urgent_at}, id LIMIT {most_buckets}
        ) AS bounded LIMIT coalesce((SELECT share + {slack} FROM knobs), 0)
    ) AS near
),
-- Only as many are locked as the batch needs.
-- SKIP LOCKED: rivals take the next rows, and if a rival holds one, the next is taken; what one of
-- them just claimed drops out by its new due_at.
-- A lease still on a due bucket ran out: one strike, if its keys are to blame (`blamed`).
urgent AS MATERIALIZED (
    SELECT locked.*
    FROM (SELECT place FROM near_urgent ORDER BY due_at, id) AS near
    CROSS JOIN LATERAL (
        SELECT ctid AS place, id, due_at, due_since, urgent, stamp, keys,
               {strikes_now} AS strikes
        FROM {bucket}
        WHERE ctid = near.place AND due_at <= now() FOR UPDATE SKIP LOCKED
    ) AS locked
    LIMIT (SELECT count(*) FROM near_urgent WHERE before < (SELECT share FROM knobs))
),
-- The same for the oldest, urgent or not, which get the rest of the batch.
near_oldest AS MATERIALIZED (
    SELECT *, sum(n) OVER (ORDER BY due_at, id ROWS UNBOUNDED PRECEDING) - n AS before
    FROM (
        SELECT * FROM (
            SELECT ctid AS place, id, due_at, cardinality(keys) AS n FROM {bucket}
            WHERE due_at <= now() AND due_at >= %(low)s::timestamptz
              AND (NOT urgent OR (ctid IN (SELECT place FROM urgent)) IS NOT TRUE)
              AND {among}
            ORDER BY due_at, id LIMIT {most_buckets}
        ) AS bounded LIMIT coalesce((SELECT size + {slack} FROM knobs), 0)
    ) AS near
),
oldest AS MATERIALIZED (
    SELECT locked.*
    FROM (SELECT place FROM near_oldest ORDER BY due_at, id) AS near
    CROSS JOIN LATERAL (
        SELECT ctid AS place, id, due_at, due_since, urgent, stamp, keys,
               {strikes_now} AS strikes
        FROM {bucket}
        WHERE ctid = near.place AND due_at <= now() FOR UPDATE SKIP LOCKED
    ) AS locked
    LIMIT (SELECT count(*) FROM near_oldest WHERE before < (
        SELECT max(size) - least(max(share), coalesce(sum(cardinality(keys)), 0))
        FROM knobs LEFT JOIN urgent ON true))
),
head AS MATERIALIZED (
    SELECT *, true AS is_urgent FROM urgent UNION ALL SELECT *, false FROM oldest
),
-- Keys that were moved or removed since are dead and are dropped, as is a bucket that has no
-- others. Jobs are read in the statement's snapshot, in which each has the stamp of its bucket. A
-- key that is moved after that stays in the queue: the save at the end will leave it alone.
live AS MATERIALIZED (
    SELECT head.*, of.keys AS live, coalesce(cardinality(of.keys), 0) AS n
    FROM head CROSS JOIN LATERAL (
        SELECT array_agg(j.key ORDER BY j.key) AS keys FROM {job} j
        WHERE j.key = ANY(head.keys) AND j.stamp = head.stamp
    ) AS of
),
-- A batch has only buckets with the same number of strikes, and the more strikes the fewer keys, so
-- that a key that kills its worker takes ever fewer along.
alike AS MATERIALIZED (
    SELECT strikes, sum(n)::int AS due, min(due_at) AS oldest,
           min(CASE strikes WHEN 0 THEN size WHEN 1 THEN request
               WHEN 2 THEN least({few}, request) ELSE 1 END) AS most
    FROM live CROSS JOIN knobs WHERE strikes < {max_strikes} AND n > 0
    GROUP BY strikes
),
-- Of several such groups a ready one goes first, then the one with the oldest key. Less than one
-- request only where its oldest has waited, or keys of other strikes make up the number.
ready AS MATERIALIZED (
    SELECT strikes, most,
           least(most, CASE WHEN due < whole THEN due ELSE due - mod(due, whole) END) AS size
    FROM alike CROSS JOIN knobs
    WHERE (SELECT sum(due) FROM alike) >= request
       OR (SELECT min(oldest) FROM alike) <= now() - buffer_ttl
    ORDER BY (due >= least(most, request) OR oldest <= now() - buffer_ttl) DESC, oldest
    LIMIT 1
),
-- How many of an urgent bucket's keys are in the urgent share, and come before all others.
line AS MATERIALIZED (
    SELECT live.*, CASE WHEN is_urgent THEN least(n, greatest(0,
               (SELECT size * {urgent_share} / 100 FROM ready)
               + n - sum(n) OVER (PARTITION BY is_urgent ORDER BY due_at, id)
           )) ELSE 0 END AS before_others
    FROM live WHERE n > 0 AND strikes = (SELECT strikes FROM ready)
),
-- The last bucket is taken in part.
taken AS MATERIALIZED (
    SELECT place, sum(least(n, greatest(0, (SELECT size FROM ready) + n - upto)))::int AS taken
    FROM (
        SELECT place, n, sum(n) OVER (ORDER BY class, due_at, id) AS upto
        FROM (
            SELECT place, id, due_at, 1 AS class, before_others AS n FROM line
            UNION ALL
            SELECT place, id, due_at, 2, n - before_others FROM line
        ) AS part WHERE n > 0
    ) AS parts GROUP BY place
),
chosen AS MATERIALIZED (
    SELECT line.*, taken FROM line JOIN taken USING (place) WHERE taken > 0
),
-- After one strike a bucket is no longer urgent: suspects would fill the share of the urgent ones.
-- How late a key is counts from when it was first due, however often it was given back since.
claimed AS (
    UPDATE {bucket} b
    SET due_at = now() + (SELECT lease FROM knobs), lease = %(token)s, strikes = c.strikes,
        urgent = c.urgent AND c.strikes = 0, keys = c.live[1:c.taken],
        due_since = coalesce(c.due_since, c.due_at)
    FROM chosen c
    WHERE b.ctid = ANY (ARRAY(SELECT place FROM chosen)) AND b.ctid = c.place
    RETURNING b.keys, b.stamp, b.urgent, b.due_at AS expires_at,
              b.due_since, c.live, c.taken, c.n, c.due_at, c.strikes, c.due_since AS since
),
-- The rest of the last bucket stays where it was in line.
left_over AS (
    INSERT INTO {bucket} (due_at, strikes, urgent, due_since, stamp, keys)
    SELECT due_at, strikes, urgent, since, stamp, live[taken + 1:]
    FROM claimed WHERE taken < n
),
pruned AS (
    UPDATE {bucket} b SET keys = l.live
    FROM live l
    WHERE b.ctid = ANY (ARRAY(
            SELECT place FROM live
            WHERE n > 0 AND n < cardinality(keys) AND strikes < {max_strikes}
              AND place <> ALL (ARRAY(SELECT place FROM chosen))))
      AND b.ctid = l.place
),
emptied AS (
    DELETE FROM {bucket} WHERE ctid = ANY (ARRAY(
        SELECT place FROM live WHERE n = 0 OR strikes >= {max_strikes}))
),
-- Locks: the jobs that are isolated, in the order of keys, as everywhere.
held AS MATERIALIZED (
    SELECT job.place
    FROM (
        SELECT unnest(live) AS key, stamp FROM live WHERE strikes >= {max_strikes} ORDER BY key
    ) AS entry
    CROSS JOIN LATERAL (
        SELECT ctid AS place FROM {job}
        WHERE key = entry.key AND stamp = entry.stamp FOR UPDATE
    ) AS job
),
-- After four strikes a key is isolated, out of the way until a person retries it.
isolated AS (
    UPDATE {job}
    SET due_at = '9000-01-01Z', stamp = NULL, strikes = {max_strikes}, urgent = false
    WHERE ctid = ANY (ARRAY(SELECT place FROM held))
    RETURNING key
)
SELECT ARRAY(SELECT unnest(keys) AS key FROM claimed ORDER BY key),
       min(due_at), min(expires_at), now(),
       array_agg(extract(epoch FROM now() - due_since)::float4), array_agg(taken),
       (SELECT task FROM knobs), (SELECT strikes FROM ready),
       sum(taken) = (SELECT most FROM ready), (SELECT array_agg(key) FROM isolated),
       (SELECT min(due_at) FROM head), (SELECT min(due_at) FROM urgent),
       (SELECT bool_or(n = 0) FROM live)
FROM claimed
