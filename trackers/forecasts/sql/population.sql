-- {counted}: the look-ups that are read, each with the number that it stands for.
WITH {counted},
-- LATERAL with a LIMIT: each tweet is found by its primary key, whatever the statistics say.
seen AS MATERIALIZED (
    SELECT c.weight, greatest((%(now_ms)s - {born_ms}) / 1000, 0)::float8 AS age,
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
)
SELECT true, sum(weight), sum(weight * age) / sum(weight),
       exp(sum(weight * ln(growth)) / sum(weight)), sum(weight * due) / sum(weight),
       paid_by, is_paid, is_gone
FROM grown
GROUP BY paid_by, is_paid, is_gone, floor({quarters} * ln(age)),
         floor({quarters} * ln(growth)), floor(due / {slot_s})
UNION ALL
-- Ages of arrivals are those of newcomers.AGES: two steps for each doubling, from a second on.
SELECT false, sum(weight), step, 0, 0, NULL, false, false
FROM (
    SELECT weight, 1 + floor({quarters} / 2 * ln(greatest(
               age - date_part('epoch', %(now)s - tracked_at), 1))) AS step
    FROM seen WHERE tracked_at > %(now)s - interval '1 day'
) AS arrived
GROUP BY step
