-- The next tweets of a source, and what X has said of each since it was tracked. LATERAL: each by its
-- key, whatever the statistics say. LEFT: some may be untracked since.
WITH piece AS MATERIALIZED (
    SELECT tweet_id FROM trackers_sourcetweet
    WHERE source_id = %(source)s AND tweet_id > %(after)s
    ORDER BY tweet_id LIMIT %(most)s
)
SELECT max(piece.tweet_id), count(t.paused),
       count(*) FILTER (WHERE t.missing_reason = 'not_found'),
       count(*) FILTER (WHERE t.missing_reason IN ('protected', 'suspended')),
       count(*) FILTER (WHERE t.missing_reason IN ('unauthorized', 'unavailable')),
       count(*) FILTER (WHERE t.missing_since IS NULL AND t.paid_on IS NOT NULL),
       count(*) FILTER (WHERE t.missing_since IS NULL AND t.paid_on IS NULL AND t.paused),
       count(*) FILTER (WHERE t.missing_since IS NULL AND t.paid_on IS NULL AND NOT t.paused
                          AND t.measurements > 0),
       count(*) FILTER (WHERE t.missing_since IS NULL AND t.paid_on IS NULL AND NOT t.paused
                          AND t.measurements = 0)
FROM piece LEFT JOIN LATERAL (
    SELECT missing_reason, missing_since, paid_on, paused, measurements
    FROM trackers_tweet WHERE id = piece.tweet_id
) t ON true
