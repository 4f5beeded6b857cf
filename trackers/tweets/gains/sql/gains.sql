-- LATERAL and = ANY(ARRAY) rule out hash and merge joins, and OFFSET 0 a scan of all tweets for each
-- one: tweets and samples are found one by one by their index, whatever the statistics say. After an
-- import they say that no tweet was ever measured.
WITH
-- A row per window and metric, with the metric's place in METRICS.
list AS MATERIALIZED (
    SELECT * FROM unnest(
        %(minutes)s::int[], %(metrics)s::text[], %(places)s::int[], %(holds)s::interval[],
        %(gains)s::bigint[], %(velocities)s::float8[]
    ) AS l(minutes, metric, place, holds, gain, velocity)
),
span AS MATERIALIZED (
    SELECT DISTINCT minutes, holds,
           CASE WHEN minutes > 0 THEN %(now)s::timestamptz - minutes * interval '1 minute'
                ELSE '-infinity' END AS start
    FROM list
),
asked AS MATERIALIZED (
    SELECT one.id, s.* FROM unnest(%(ids)s::bigint[]) AS one(id) CROSS JOIN span s
    WHERE %(all)s OR NOT EXISTS (
        SELECT FROM trackers_gain m
        WHERE m.tweet_id = one.id AND m.minutes = s.minutes AND m.minutes > 0
          AND m.again_at > %(now)s)
),
tweet AS MATERIALIZED (
    SELECT t.* FROM unnest(%(ids)s::bigint[]) AS one(id)
    CROSS JOIN LATERAL (
        SELECT id, coalesce(created_at, tracked_at) AS born, taken_at, measured_until,
               {figures} AS f, {ranked_at} AS ranked_at
        FROM trackers_tweet
        WHERE id = ANY(ARRAY[one.id]) AND measurements > 0 AND gone_at IS NULL OFFSET 0
    ) t
),
-- A tweet whose newest metrics held for the whole window gained nothing (`t.taken_at > s.start`).
-- Only past days are packed. The arrays are in the order of time, except for samples that came days
-- late, so width_bucket finds the first that reaches into the window without reading all.
base AS MATERIALIZED (
    SELECT t.id, s.minutes, s.holds, t.f AS after, t.measured_until AS until,
           run.f AS before, greatest(run.taken_at, s.start) AS since
    FROM asked s JOIN tweet t USING (id)
    CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT taken_at, measured_until, {figures} AS f FROM trackers_sample
            WHERE tweet_id = ANY(ARRAY[t.id]) AND measured_until >= s.start
            UNION ALL
            SELECT p.taken_at[i], p.measured_until[i], {packed_figures}
            FROM trackers_packedsamples p
            CROSS JOIN LATERAL (
                SELECT width_bucket(s.start, p.measured_until) + 1 AS i OFFSET 0) first
            WHERE s.start < %(today)s AND p.tweet_id = ANY(ARRAY[t.id])
              AND p.month >= date_trunc('month', s.start AT TIME ZONE 'UTC')::date
              AND p.measured_until[i] >= s.start
        ) runs ORDER BY taken_at LIMIT 1
    ) run
    WHERE s.minutes > 0 AND t.taken_at > s.start AND EXISTS (
        SELECT FROM list l WHERE l.minutes = s.minutes AND t.f[l.place] >= 1
        AND (t.f[l.place] >= l.gain OR t.f[l.place] * 3600.0 / {rate_from} >= l.velocity) IS NOT FALSE)
    UNION ALL
    SELECT t.id, s.minutes, s.holds, t.f, t.measured_until, {nothing},
           least(t.born, t.measured_until)
    FROM asked s JOIN tweet t USING (id) WHERE s.minutes = 0
),
gained AS MATERIALIZED (
    SELECT b.id, b.minutes, l.metric, risen.gain, speed.velocity, b.since, b.until,
           %(now)s::timestamptz + b.holds AS again_at
    FROM base b JOIN list l USING (minutes)
    CROSS JOIN LATERAL (SELECT b.after[l.place] - b.before[l.place] AS gain OFFSET 0) risen
    CROSS JOIN LATERAL (
        SELECT risen.gain * 3600::float8
               / greatest(extract(epoch FROM b.until - b.since)::float8, {rate_from}) AS velocity
        OFFSET 0
    ) speed
    WHERE risen.gain > 0
      AND (risen.gain >= l.gain OR speed.velocity >= l.velocity) IS NOT FALSE
),
over AS (
    DELETE FROM trackers_gain m USING asked
    WHERE m.tweet_id = ANY(%(ids)s::bigint[])
      AND m.tweet_id = asked.id AND m.minutes = asked.minutes AND NOT EXISTS (
        SELECT FROM gained g
        WHERE g.id = m.tweet_id AND g.minutes = m.minutes AND g.metric = m.metric)
    RETURNING m.tweet_id AS id
),
written AS (
    INSERT INTO trackers_gain AS m
        (tweet_id, minutes, metric, gain, velocity, since, until, again_at)
    SELECT id, minutes, metric, gain, velocity, since, until, again_at FROM gained
    ON CONFLICT (tweet_id, minutes, metric) DO UPDATE SET
        gain = excluded.gain, velocity = excluded.velocity, since = excluded.since,
        until = excluded.until, again_at = excluded.again_at
),
-- How much each metric has to rise before the tweet could be in a list that it is not in; in those
-- that it is in, it is ranked when its time is over. Half of what a list's last has, since that
-- sinks in quiet hours, less what the tweet gained: what it gained never grows unless the metric
-- does. A speed is of a stretch that can only get longer, until the window leaves its beginning
-- behind; then it is a third of the window at least, unless the tweet was not measured for long.
rise AS MATERIALIZED (
    SELECT t.id, l.place, t.f[l.place] AS value, min(CASE
        WHEN g.id IS NOT NULL THEN 'infinity'
        -- Not computed now: what the last ranking named still holds.
        WHEN a.id IS NULL THEN coalesce(t.ranked_at[l.place] - t.f[l.place], 0)
        ELSE least(
            coalesce(l.gain * CASE WHEN l.minutes > 0 THEN {margin} ELSE 1 END, 0),
            coalesce(l.velocity * {margin} * so_far.stretch / 3600, 0)) - so_far.gain
        END) AS needed
    FROM tweet t CROSS JOIN list l JOIN span s USING (minutes)
    LEFT JOIN asked a ON a.id = t.id AND a.minutes = l.minutes
    LEFT JOIN base b ON b.id = t.id AND b.minutes = l.minutes
    LEFT JOIN gained g ON g.id = t.id AND g.minutes = l.minutes AND g.metric = l.metric
    CROSS JOIN LATERAL (
        SELECT CASE WHEN b.id IS NOT NULL
                    THEN coalesce(greatest(b.after[l.place] - b.before[l.place], 0), 0)
                    -- Its samples were not read, or there are none: no more than all it has.
                    WHEN t.taken_at > s.start THEN t.f[l.place] ELSE 0 END AS gain,
               greatest({rate_from}, CASE
                   WHEN b.since > s.start THEN date_part('epoch', b.until - b.since)
                   WHEN b.id IS NOT NULL OR t.taken_at <= s.start THEN l.minutes * 20 END
               ) AS stretch
        OFFSET 0
    ) so_far
    GROUP BY t.id, l.place, value
),
-- Beyond an integer: at each change. A metric that X did not give: once it does.
named AS MATERIALIZED (
    SELECT id, array_agg(
        coalesce(least(2147483647, value + greatest(1, ceil(needed))), 0)::int ORDER BY place) AS f
    FROM rise GROUP BY id
)
SELECT one.id, named.f, EXISTS (SELECT FROM over WHERE over.id = one.id)
FROM unnest(%(ids)s::bigint[]) AS one(id) LEFT JOIN named USING (id)
