-- width_bucket is a binary search, so a tweet with a hundred thousand samples costs little more
-- than one with a hundred. It needs ordered arrays: a sample that came days late is at the end of
-- its month, and may be missed.
-- A sample is filed under the month in which it ended, so the last one before an age may be in the
-- next existing month: `months` includes that.
-- {slices}, {arrays}, {columns}, {elements}: the metrics that are asked for, in four forms.
WITH asked AS MATERIALIZED (
    SELECT * FROM unnest(%(ids)s::bigint[], %(born)s::timestamptz[]) AS one(id, born)
),
-- [1:] unpacks an array once instead of at each access.
stretches AS MATERIALIZED (
    SELECT asked.born, p.* FROM asked CROSS JOIN LATERAL (
        SELECT tweet_id, taken_at[1:] AS taken_at, measured_until[1:] AS measured_until,
               {slices}
        FROM trackers_packedsamples
        WHERE tweet_id = asked.id
          AND month >= date_trunc('month', asked.born AT TIME ZONE 'UTC')::date
        ORDER BY month LIMIT %(months)s
    ) AS p
    UNION ALL
    SELECT asked.born, recent.* FROM asked CROSS JOIN LATERAL (
        SELECT asked.id, array_agg(taken_at) AS taken_at, array_agg(measured_until), {arrays}
        FROM (
            SELECT * FROM (
                SELECT taken_at, measured_until, {columns}
                FROM trackers_sample WHERE tweet_id = asked.id
                UNION ALL
                SELECT taken_at, measured_until, {columns}
                FROM trackers_tweet WHERE id = asked.id AND measurements > 0
            ) AS unpacked ORDER BY taken_at
        ) AS ordered
    ) AS recent WHERE recent.taken_at IS NOT NULL
)
SELECT DISTINCT ON (s.tweet_id, age)
       s.tweet_id, age, least(s.measured_until[n], s.born + age), {elements}
FROM stretches s
CROSS JOIN unnest(%(ages)s::interval[]) AS age
CROSS JOIN LATERAL (SELECT width_bucket(s.born + age, s.taken_at) AS n) AS place
WHERE s.born + age <= %(now)s AND n > 0
ORDER BY s.tweet_id, age, s.taken_at[n] DESC
