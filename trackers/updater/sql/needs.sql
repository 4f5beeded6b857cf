-- `unpaid`: tweets that are due before the day is over and that X has not billed today, by the
-- project that paid for them last, by tier (0 is the youngest) and by when they are due. The age of
-- a tweet that was never looked up comes from its id. What X no longer shows costs nothing.
WITH {counted},
unpaid AS (
    SELECT t.paid_by,
           least(width_bucket((%(now_ms)s - {born_ms})::float8, %(bounds)s::float8[]),
                 cardinality(%(bounds)s::float8[]) - 1) AS tier,
           greatest(0, floor(extract(epoch FROM c.due_at - %(now)s) / %(slot)s))::int AS slot,
           sum(c.weight) AS count, sum(c.weight * (c.weight - 1)) AS variance
    -- LATERAL with a LIMIT: each tweet is found by its primary key, whatever the statistics say. A
    -- plain join is planned as a scan of all tweets.
    FROM counted c CROSS JOIN LATERAL (
        SELECT id, created_at, paid_by, paid_on, gone_at FROM trackers_tweet
        WHERE id = c.key LIMIT 1
    ) t
    WHERE c.due_at < %(next_day)s AND t.gone_at IS NULL
      AND (t.paid_on IS NULL OR t.paid_on < %(day)s)
    GROUP BY 1, 2, 3
)
-- `arrived`: look-ups of tweets posted since an instant, from which future arrivals are estimated.
SELECT arrived.count, unpaid.*
FROM (SELECT coalesce(sum(weight), 0) AS count FROM counted WHERE key >= %(since)s) arrived
LEFT JOIN unpaid ON true
