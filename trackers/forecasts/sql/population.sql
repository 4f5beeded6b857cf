-- {counted}: the look-ups that are read, each with the number that it stands for.
WITH {counted},
-- LATERAL with a LIMIT: each tweet is found by its primary key, whatever the statistics say.
seen AS MATERIALIZED (
    SELECT c.key AS id, c.weight, greatest((%(now_ms)s - {born_ms}) / 1000, 0)::float8 AS age,
           t.measurements > 0 AND t.created_at IS NOT NULL AS is_known,
           t.pace, date_part('epoch', t.measured_until - t.created_at) AS last_age, t.paid_by,
           greatest(date_part('epoch', c.due_at - %(now)s), 0) AS due,
           coalesce(t.paid_on >= %(day)s, false) AS is_paid, t.gone_at IS NOT NULL AS is_gone,
           t.tracked_at
    FROM counted c CROSS JOIN LATERAL (
        SELECT * FROM trackers_tweet WHERE id = c.key LIMIT 1
    ) t
),
-- A tweet that was never looked at is taken to grow like most of its age.
grown AS (
    SELECT weight, greatest(age, 1) AS age, due, paid_by, is_paid, is_gone,
           CASE WHEN is_known
                THEN greatest(trackers_known_pace_v1(pace, last_age) * greatest(last_age, 1),
                              {least_growth})
                ELSE 1 / (1 + age / 3600) END AS growth
    FROM seen
),
-- Posts of the last `lately` seconds, with how long ago their source was first and last read (s).
-- A post counts if it was made after the first time: what a first poll, a backfill or a file brings
-- says nothing of what will come. One without a source, as of a program, counts from the first of
-- these on.
lately AS MATERIALIZED (
    SELECT seen.weight, seen.age, date_part('epoch', %(now)s - seen.tracked_at) AS tracked_ago,
           origin.*
    FROM seen CROSS JOIN LATERAL (
        SELECT count(*) > 0 AS has_source, max(begun_ago - read_ago) AS read_for
        FROM (SELECT source_id FROM trackers_sourcetweet WHERE tweet_id = seen.id LIMIT 20) AS pair
        CROSS JOIN LATERAL (
            SELECT begun_ago, read_ago FROM (
                SELECT kind, paused_at,
                       least(date_part('epoch', %(now)s - coalesce(first_read_at, created_at)),
                             %(lately)s) AS begun_ago,
                       greatest(date_part('epoch', %(now)s - coalesce(polled_at, %(now)s)), 0)
                           AS read_ago
                FROM trackers_source WHERE id = pair.source_id LIMIT 1
            ) AS source
            WHERE kind <> 'import' AND paused_at IS NULL AND seen.age < begun_ago
            UNION ALL SELECT NULL, NULL
        ) AS source
    ) AS origin
    WHERE seen.age < %(lately)s
),
arrived AS (
    SELECT weight, age - tracked_ago AS age_then,
           CASE WHEN has_source THEN read_for WHEN age < first_ago THEN first_ago END AS read_for
    FROM lately CROSS JOIN (
        SELECT max(tracked_ago) FILTER (WHERE NOT has_source) AS first_ago FROM lately
    ) AS first
)
-- Due times are in slots of a minute for the first `finely` seconds, and longer ones beyond.
SELECT true, sum(weight), sum(weight * age) / sum(weight),
       exp(sum(weight * ln(growth)) / sum(weight)), sum(weight * due) / sum(weight),
       paid_by, is_paid, is_gone
FROM grown
GROUP BY paid_by, is_paid, is_gone, floor({quarters} * ln(age)),
         floor({quarters} * ln(growth)),
         CASE WHEN due < %(finely)s THEN floor((due + %(second)s) / 60) END,
         CASE WHEN due >= %(finely)s THEN floor(due / {slot_s}) END
UNION ALL
-- New posts a second, by the ages of newcomers.AGE_STEPS: two steps for each doubling, from a second
-- on. The time in which a source was read is a minute at least.
SELECT false, sum(weight / greatest(read_for, 60)), step, 0, 0, NULL, false, false
FROM (
    SELECT weight, read_for, 1 + floor({quarters} / 2 * ln(greatest(age_then, 1))) AS step
    FROM arrived WHERE read_for IS NOT NULL
) AS stepped
GROUP BY step
