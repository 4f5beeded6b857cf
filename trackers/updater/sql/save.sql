-- Write a batch: next checks, metrics, samples, what X no longer shows; fenced by its lease.
-- Locks: the buckets, the jobs, then the tweets (in {record}), each in the order of ids.
-- LATERAL and = ANY(ARRAY) rule out hash and merge joins: each row is found by the primary key,
-- whatever the statistics say. With statistics from an empty queue, a plain join was planned as a
-- scan of the whole table for each key. An array of ctids keeps the planner from scanning the whole
-- queue (see claim.sql).
-- Tweets with a verdict come first, and the verdicts' arrays are only that long: unnest fills the
-- rest with nulls. The rest are tweets for which X gave only counts; their age determines when they
-- are due again.
WITH
-- The fence: the buckets that still carry the lease.
fence AS MATERIALIZED (
    DELETE FROM trackers_tweetbucket WHERE lease = %(lease)s
    RETURNING due_at, lease, strikes, urgent, due_since, stamp, keys
),
-- Keys of these buckets that are not saved now stay claimed.
stay AS (
    INSERT INTO trackers_tweetbucket (due_at, lease, strikes, urgent, due_since, stamp, keys)
    SELECT due_at, lease, strikes, urgent, due_since, stamp, of.keys
    FROM fence CROSS JOIN LATERAL (
        SELECT array_agg(key) AS keys FROM unnest(fence.keys) AS key
        WHERE (key IN (SELECT unnest(%(ids)s::bigint[]))) IS NOT TRUE
    ) AS of
    WHERE of.keys IS NOT NULL
),
-- Those of their keys whose job has their stamp. What another worker claimed meanwhile, or a person
-- rescheduled or removed, is not ours, and nothing at all is written for it.
-- The jobs are locked before they are written: the UPDATE and the DELETE would each lock in their
-- own order, and could deadlock with a person's check of the same tweets. Unless all were measured,
-- the tweets are locked here as well: `recorded`, `missing` and `unreadable` lock theirs one after
-- the other, and could deadlock with a pause of the same tweets.
-- ctid: a job's row stays where it was locked, since any other writer changes its stamp. A tweet's
-- row may have moved since the statement began, and is found by its id.
held AS MATERIALIZED (
    SELECT a.*, job.place, tweet.*, (%(ats)s::timestamptz[])[a.request] AS at,
           (%(paid_on)s::date[])[a.request] AS paid_on,
           (%(paid_by)s::int[])[a.request] AS paid_by
    FROM (
        SELECT * FROM unnest(
            %(ids)s::bigint[], %(request)s::int[],
            %(kind)s::text[], %(due_in)s::float8[], %(gone)s::bool[],
            %(hole_after)s::float8[], %(urgent)s::bool[],
            %(rt)s::int[], %(re)s::int[], %(li)s::int[], %(qu)s::int[], %(bo)s::int[],
            %(vi)s::bigint[]
        ) AS a(id, request, kind, due_in, gone, hole_after, urgent, rt, re, li, qu, bo, vi)
        WHERE (id IN (SELECT unnest(keys) FROM fence)) IS TRUE
        ORDER BY id
    ) a
    CROSS JOIN LATERAL (
        SELECT ctid AS place FROM trackers_tweetupdate
        WHERE key = a.id AND stamp = ANY(ARRAY(SELECT stamp FROM fence)) FOR UPDATE
    ) job
    LEFT JOIN LATERAL (
        SELECT missing_reason AS reason_before, paid_on AS paid_before
        FROM trackers_tweet WHERE %(mixed)s AND id = a.id FOR UPDATE
    ) tweet ON true
),
measured AS MATERIALIZED (
    SELECT id AS tweet_id, at, paid_on, paid_by, kind, due_in, hole_after,
           rt, re, li, qu, bo, vi
    FROM held WHERE kind IS NULL OR kind = 'measured'
),
-- The tweets that X does not show, as they are under the lock. `missing` writes from it, so this is
-- their state before, and a deletion is announced only when it happens.
unseen AS MATERIALIZED (
    SELECT h.*, t.gone_at, t.views AS views_before, greatest(t.measured_until, t.tracked_at) AS since,
           -- What the users endpoint told is more than the tweets' endpoint ever says.
           CASE WHEN h.kind = 'unauthorized' AND t.missing_reason IN ('protected', 'suspended')
                THEN t.missing_reason ELSE h.kind END AS reason
    FROM held h CROSS JOIN LATERAL (
        SELECT * FROM trackers_tweet WHERE id = h.id FOR UPDATE
    ) t WHERE h.kind NOT IN ('measured', 'broken', '')
),
-- `recorded`, and what follows from it.
{record},
-- Those of a tier are due together, all others by the second, so that buckets fill up.
planned AS MATERIALIZED (
    SELECT h.place,
           CASE WHEN m.wait IS NOT NULL
                     AND (h.kind IS NULL OR h.kind = 'measured' AND h.due_in IS NOT NULL)
                -- X has just billed the tweet for this day. Where money is short, a wait that
                -- ends on another day is stretched: by our clock, which differs from X's only by
                -- seconds. A verdict's wait that is shorter than the interval ever gives (an edit
                -- is looked up again at once) stays.
                THEN to_timestamp(ceil(date_part('epoch', now()) + CASE
                    WHEN %(day_stretch)s::float8 <= 1
                         OR h.due_in < (%(at_least)s::float8[])[m.adapting]
                                       * (1 - (%(jitter)s::float8[])[m.adapting])
                    THEN least(h.due_in, m.wait)
                    ELSE trackers_across_days_v1(
                        least(h.due_in, m.wait), trackers_left_of_day_v1(now()),
                        %(day_stretch)s::float8,
                        (%(at_least)s::float8[])[m.adapting] * {stretch_most}, m.chance)
                    END))
                WHEN h.kind IS NULL
                THEN now() + (%(every)s::float8[])[m.tier] * interval '1 second'
                ELSE to_timestamp(ceil(date_part('epoch', now()) + h.due_in)) END AS due_at,
           CASE WHEN h.kind IS NULL THEN m.tier = 1 AND cardinality(%(bounds)s::float8[]) > 1
                ELSE h.urgent END AS urgent
    FROM held h LEFT JOIN (
        -- Each tweet's chances once: they are volatile, so this is not pulled up. OFFSET: nor
        -- is what it reads, or each use of an age would work that out anew.
        SELECT m.id, m.adapting, CASE WHEN m.has_time THEN m.adapting END AS tier,
               -- Where the interval adapts: by the pace from this measurement.
               CASE WHEN (%(accuracy)s::float8[])[m.adapting] IS NOT NULL
                    THEN trackers_adapted_wait_v1(
                             m.age, trackers_known_pace_v1(m.pace, m.age),
                             (%(accuracy)s::float8[])[m.adapting],
                             (%(at_most)s::float8[])[m.adapting],
                             (%(at_least)s::float8[])[m.adapting], %(stretch)s::float8)
                         * (1 + (%(jitter)s::float8[])[m.adapting] * (2 * random() - 1))
                    END AS wait,
               CASE WHEN %(day_stretch)s::float8 > 1 THEN random() END AS chance
        FROM (
            SELECT a.id, a.pace, a.age, a.has_time,
                   trackers_tier_v1(a.age, %(bounds)s::float8[]) AS adapting
            FROM (
                -- If X has not yet said when the tweet was posted, its id does.
                SELECT t.id, t.pace, t.created_at IS NOT NULL AS has_time,
                       date_part('epoch', t.at - coalesce(
                           t.created_at, trackers_born_at_v1(t.id))) AS age
                FROM recorded t OFFSET 0
            ) a OFFSET 0
        ) m
    ) m ON m.id = h.id
),
moved AS (
    UPDATE trackers_tweetupdate j
    SET due_at = p.due_at, stamp = %(stamp)s, strikes = 0, urgent = coalesce(p.urgent, false),
        for_money_until = NULL
    FROM planned p
    WHERE j.ctid = ANY(ARRAY(SELECT place FROM held)) AND j.ctid = p.place
      AND p.due_at IS NOT NULL
    RETURNING j.key, j.due_at, j.urgent
),
again AS (
    INSERT INTO trackers_tweetbucket (due_at, urgent, stamp, keys)
    SELECT due_at, urgent, %(stamp)s, keys[first:first + {bucket_keys} - 1]
    FROM (
        SELECT due_at, urgent, array_agg(key ORDER BY key) AS keys FROM moved GROUP BY 1, 2
    ) AS together
    CROSS JOIN LATERAL generate_series(1, cardinality(keys), {bucket_keys}) AS first
),
-- Tweets that rest from now on.
over AS (
    DELETE FROM trackers_tweetupdate j USING planned p
    WHERE j.ctid = ANY(ARRAY(SELECT place FROM planned WHERE due_at IS NULL))
      AND j.ctid = p.place
),
missing AS (
    UPDATE trackers_tweet t
    SET missing_since = coalesce(t.missing_since, a.at),
        missing_reason = a.reason,
        gone_at = CASE WHEN a.gone THEN coalesce(t.gone_at, a.at) END,
        unreadable_since = NULL, unreadable_reason = ''
    FROM unseen a WHERE t.id = ANY(ARRAY[a.id])
),
-- X showed the broken ones too, and bills them once a day, as those that were measured.
unreadable AS (
    UPDATE trackers_tweet t
    SET unreadable_since = coalesce(t.unreadable_since, h.at),
        unreadable_reason = coalesce(%(broken)s::jsonb ->> h.id::text, ''),
        paid_on = CASE WHEN h.kind = 'broken' THEN coalesce(h.paid_on, t.paid_on)
                       ELSE t.paid_on END,
        paid_by = CASE WHEN h.kind = 'broken' THEN coalesce(h.paid_by, t.paid_by)
                       ELSE t.paid_by END
    FROM held h WHERE t.id = ANY(ARRAY[h.id]) AND h.kind IN ('broken', '')
),
presences AS ({counted}),
uncounted AS ({uncounted}),
-- What X no longer shows we show no longer either.
hushed AS (
    DELETE FROM trackers_tweettext
    WHERE tweet_id = ANY(ARRAY(SELECT id FROM held WHERE gone))
),
hushed_versions AS (
    UPDATE trackers_tweetversion SET text = NULL
    WHERE tweet_id = ANY(ARRAY(SELECT id FROM held WHERE gone)) AND text IS NOT NULL
)
SELECT array_agg(held.id), count(*) FILTER (WHERE r.changed AND NOT r.belated),
       array_agg(held.id) FILTER (
           WHERE r.gone_at IS NOT NULL OR r.id IS NOT NULL AND r.created_at IS NULL)
FROM held LEFT JOIN recorded r ON r.id = held.id
