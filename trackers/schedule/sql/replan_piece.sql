-- One piece: the next tweets, youngest first.
-- Only waiting jobs move: a claimed one is planned by its own save.
-- Locks: first the buckets that are due SOON, until the end, so that no claim takes one of these
-- keys, since its save would then be fenced off; then the jobs, in the order of keys.
-- SKIP LOCKED: this never waits for a save, nor a save for it, and a claim takes other buckets.
-- No join on the queue: each job is found by its key, whatever the statistics say. With statistics
-- of an empty queue, an UPDATE with a join read the whole table for each key. Hence LATERAL with a
-- lock, and ON CONFLICT, which hits exactly the rows that were locked.
WITH tier AS MATERIALIZED (
    SELECT younger_than, every, jitter, accuracy,
           date_part('epoch', at_most) AS at_most,
           date_part('epoch', at_least) AS at_least
    FROM trackers_interval WHERE enabled
),
stretch AS MATERIALIZED (
    SELECT coalesce((SELECT windows FROM trackers_stretch), 1) AS windows,
           coalesce((SELECT money FROM trackers_stretch), 1) AS money
),
piece AS MATERIALIZED (
    SELECT * FROM trackers_tweet WHERE id < %(below)s ORDER BY id DESC LIMIT %(size)s
),
-- A tweet's tier is the first whose bound exceeds its age; one from up to five minutes in the
-- future has age 0, as in the pure rule. It is due one interval after its last look-up. The wait of
-- an adapting row is counted from then, with the age and the pace at that time; where money is
-- short, a wait that does not end on the day of the last look-up is stretched.
wished AS MATERIALIZED (
    SELECT t.id,
           t.measured_until + CASE WHEN tier.accuracy IS NULL OR w.chance IS NULL THEN w.wait
               ELSE interval '1 second' * trackers_across_days_v1(
                   date_part('epoch', w.wait), trackers_left_of_day_v1(t.measured_until),
                   stretch.money, tier.at_least * {stretch_most}, w.chance)
               END AS due_at
    FROM piece t
    CROSS JOIN stretch
    CROSS JOIN LATERAL (
        SELECT CASE WHEN tier.accuracy IS NULL THEN tier.every
               ELSE interval '1 second' * trackers_adapted_wait_v1(
                   date_part('epoch', t.measured_until - t.created_at),
                   trackers_known_pace_v1(
                       t.pace, date_part('epoch', t.measured_until - t.created_at)),
                   tier.accuracy, tier.at_most, tier.at_least, stretch.windows)
               END AS every, jitter, accuracy, at_least
        FROM tier
        WHERE younger_than > greatest(now() - t.created_at, interval '0')
        ORDER BY younger_than LIMIT 1
    ) tier
    CROSS JOIN LATERAL (
        SELECT tier.every * (1 + tier.jitter * (2 * random() - 1)) AS wait,
               CASE WHEN stretch.money > 1 THEN random() END AS chance
    ) w
    WHERE NOT t.paused AND t.gone_at IS NULL AND t.missing_since IS NULL
      AND t.version_of IS NULL
      AND t.measurements > 0 AND t.created_at <= now() + interval '5 minutes'
),
-- If its time has passed, it is due at once, spread by the queue's rate of arrivals from the
-- start of the whole re-planning: a shorter interval for a million old tweets must not put these
-- before the young ones.
-- Due times are rounded to a second, or a tenth of one, so that buckets fill up.
planned AS MATERIALIZED (
    SELECT w.id, w.due_at <= now() AS is_overdue, CASE WHEN w.due_at > now()
        THEN date_trunc('second', w.due_at) + interval '1 second'
        ELSE %(begun_at)s::timestamptz + interval '0.1 second' * floor(
            10 / n.arrivals_per_second::float8 * (%(overdue)s - 1
                + row_number() OVER (PARTITION BY w.due_at > now() ORDER BY w.id DESC)))
        END AS due_at
    FROM wished w CROSS JOIN trackers_queue n WHERE n.name = %(queue)s
),
-- Resting tweets that the new list covers come back; paused, missing and isolated ones stay. They
-- come first: their INSERT may have to wait for a person's check of the same tweets, and must not
-- meanwhile hold locks that the check needs next.
woken AS (
    INSERT INTO {job} (key, due_at, stamp)
    SELECT p.id, p.due_at, %(stamp)s + {of_slot} FROM planned p
    WHERE (SELECT true FROM {job} j WHERE j.key = p.id LIMIT 1) IS NULL
    ORDER BY p.id
    ON CONFLICT (key) DO NOTHING
    RETURNING *
),
known AS MATERIALIZED (
    SELECT p.id, p.due_at, job.stamp
    FROM planned p CROSS JOIN LATERAL (
        SELECT stamp FROM {job} j
        WHERE j.key = p.id AND j.strikes < {max_strikes}
          AND j.due_at IS DISTINCT FROM p.due_at LIMIT 1
    ) job
),
free AS MATERIALIZED (
    SELECT of.*
    FROM (SELECT DISTINCT stamp FROM known ORDER BY stamp) AS asked CROSS JOIN LATERAL (
        SELECT stamp, keys, strikes FROM {bucket} b
        WHERE b.stamp = asked.stamp AND b.lease IS NULL AND b.due_at > now() + %(soon)s
        UNION ALL
        SELECT * FROM (
            SELECT stamp, keys, strikes FROM {bucket} b
            WHERE b.stamp = asked.stamp AND b.lease IS NULL AND b.due_at <= now() + %(soon)s
            FOR UPDATE SKIP LOCKED
        ) AS soon
    ) AS of
),
waiting AS MATERIALIZED (
    SELECT k.id, k.due_at,
           CASE WHEN k.stamp = ANY(ARRAY(SELECT stamp FROM free WHERE strikes > 0)) THEN (
               SELECT max(f.strikes) FROM free f
               WHERE f.stamp = k.stamp AND k.id = ANY(f.keys)) ELSE 0 END AS strikes
    FROM (
        SELECT * FROM known
        WHERE ((id, stamp) IN (SELECT unnest(keys), stamp FROM free)) IS TRUE
          AND (SELECT count(*) FROM woken) >= 0
        ORDER BY id
    ) k
    CROSS JOIN LATERAL (
        SELECT FROM {job} j WHERE j.key = k.id AND j.stamp = k.stamp FOR UPDATE SKIP LOCKED
    ) locked
),
moved AS (
    INSERT INTO {job} (key, due_at, strikes, stamp)
    SELECT id, due_at, strikes, %(stamp)s + {of_slot} FROM waiting ORDER BY id
    ON CONFLICT (key) DO UPDATE
    SET due_at = excluded.due_at, strikes = excluded.strikes, stamp = excluded.stamp
    RETURNING *
),
put AS (SELECT * FROM moved UNION ALL SELECT * FROM woken),
again AS ({into_buckets})
SELECT (SELECT count(*) FROM piece), (SELECT min(id) FROM piece),
       (SELECT count(*) FROM moved), (SELECT count(*) FROM woken),
       (SELECT count(*) FROM planned WHERE is_overdue)
