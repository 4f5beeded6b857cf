-- The next tweets of a file or a tag, by year, and what X has said of them since they were tracked.
-- {of}, {column}: the table that says which those are, and whose.
-- LATERAL with a limit: each by its key, whatever the statistics say. LEFT: some may be untracked
-- since, and have no year.
WITH piece AS MATERIALIZED (
    SELECT tweet_id FROM {of}
    WHERE {column} = %(row)s AND tweet_id > %(after)s
    ORDER BY tweet_id LIMIT %(most)s
)
SELECT max(t.tweet_id), CASE WHEN t.presence IS NOT NULL THEN trackers_year_v1(t.tweet_id) END,
       CASE WHEN t.presence <> 'unasked' THEN t.presence
            WHEN t.paused THEN 'paused'
            WHEN t.measurements > 0 THEN 'dated'
            WHEN t.presence IS NOT NULL THEN 'waiting' END,
       count(*)
FROM (
    SELECT piece.tweet_id, t.presence, t.paused, t.measurements
    FROM piece LEFT JOIN LATERAL (
        SELECT trackers_presence_v1(missing_reason, paid_on) AS presence, paused, measurements
        FROM trackers_tweet WHERE id = piece.tweet_id LIMIT 1
    ) t ON true
) t
GROUP BY 2, 3
