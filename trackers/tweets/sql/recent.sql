-- Unpacked samples are at most a day and a half old. If these are too few, months are unpacked,
-- newest first, and only as much is taken from each as is needed: a tweet with a hundred thousand
-- samples costs what one with a few hundred does.
-- LIMIT 1: so that a month is found by the index, whatever the statistics say. A sample that was
-- packed days late is also at the end of its month, and may be returned here instead of another
-- one.
SELECT run.* FROM unnest(%(ids)s::bigint[]) AS asked(id)
CROSS JOIN LATERAL (
    WITH RECURSIVE unpacked AS MATERIALIZED (
        SELECT * FROM (
            SELECT tweet_id, {columns}
            FROM trackers_sample WHERE tweet_id = asked.id
            UNION ALL
            SELECT id, {columns}
            FROM trackers_tweet WHERE id = asked.id AND measurements > 0
        ) AS one ORDER BY taken_at DESC LIMIT %(most)s
    ),
    months AS (
        SELECT 'infinity'::date AS month, 0 AS length, 0 AS lacking,
               %(most)s::int - (SELECT count(*)::int FROM unpacked) AS still_lacking
        UNION ALL
        SELECT older.month, older.length, months.still_lacking,
               months.still_lacking - older.length
        FROM months CROSS JOIN LATERAL (
            SELECT month, cardinality(taken_at) AS length FROM trackers_packedsamples
            WHERE tweet_id = asked.id AND month < months.month
            ORDER BY month DESC LIMIT 1
        ) AS older
        WHERE months.still_lacking > 0
    )
    SELECT * FROM unpacked
    UNION ALL
    SELECT asked.id, one.* FROM months AS month
    CROSS JOIN LATERAL (
        SELECT * FROM trackers_packedsamples
        WHERE tweet_id = asked.id AND month = month.month LIMIT 1
    ) AS p
    CROSS JOIN LATERAL unnest({newest_of_a_month}) AS one
) AS run
ORDER BY run.tweet_id, run.taken_at
