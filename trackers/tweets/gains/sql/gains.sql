-- LATERAL and = ANY(ARRAY) rule out hash and merge joins: tweets and samples are found one by one
-- by their index, whatever the statistics say.
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
    WHERE NOT EXISTS (
        SELECT FROM trackers_gain m
        WHERE m.tweet_id = one.id AND m.minutes = s.minutes AND m.minutes > 0
          AND m.again_at > %(now)s)
),
tweet AS MATERIALIZED (
    SELECT t.* FROM unnest(%(ids)s::bigint[]) AS one(id)
    CROSS JOIN LATERAL (
        SELECT id, coalesce(created_at, tracked_at) AS born, taken_at, measured_until,
               {figures} AS f
        FROM trackers_tweet
        WHERE id = ANY(ARRAY[one.id]) AND measurements > 0 AND gone_at IS NULL
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
    WHERE m.tweet_id = asked.id AND m.minutes = asked.minutes AND NOT EXISTS (
        SELECT FROM gained g
        WHERE g.id = m.tweet_id AND g.minutes = m.minutes AND g.metric = m.metric)
)
INSERT INTO trackers_gain AS m
    (tweet_id, minutes, metric, gain, velocity, since, until, again_at)
SELECT id, minutes, metric, gain, velocity, since, until, again_at FROM gained
ON CONFLICT (tweet_id, minutes, metric) DO UPDATE SET
    gain = excluded.gain, velocity = excluded.velocity, since = excluded.since,
    until = excluded.until, again_at = excluded.again_at
