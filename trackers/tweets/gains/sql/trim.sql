-- Remove what a full list no longer holds. Rows that tie with the last velocity or gain stay.
-- Their tweets are ranked at their next change. Locks: these tweets' rows, in the order of ids.
WITH trimmed AS (
    DELETE FROM trackers_gain m
    USING unnest(%(minutes)s::int[], %(metrics)s::text[], %(gains)s::bigint[],
                 %(velocities)s::float8[]) AS l(minutes, metric, gain, velocity)
    WHERE m.minutes = l.minutes AND m.metric = l.metric
      AND m.gain < l.gain AND m.velocity < l.velocity
    RETURNING m.tweet_id
),
held AS MATERIALIZED (
    SELECT t.id FROM (SELECT DISTINCT tweet_id FROM trimmed ORDER BY tweet_id) one
    CROSS JOIN LATERAL (
        SELECT id FROM trackers_tweet WHERE id = ANY(ARRAY[one.tweet_id]) FOR NO KEY UPDATE
    ) t
)
UPDATE trackers_tweet t SET ranked_again_at = NULL
FROM held WHERE t.id = ANY(ARRAY[held.id])
