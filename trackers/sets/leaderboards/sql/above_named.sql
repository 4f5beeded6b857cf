-- As in above.sql, of sets that a post's text names: of the newest posts of the period, so many.
SELECT of.key, count(*), count(*) FILTER (WHERE s.views >= {stands_out})
FROM (
    SELECT tweet_id, {keys} AS keys FROM trackers_tweettext
    WHERE tweet_id >= %(low)s AND tweet_id < %(high)s ORDER BY tweet_id DESC LIMIT {most}
) x
CROSS JOIN LATERAL (SELECT DISTINCT unnest(x.keys) AS key) of
CROSS JOIN LATERAL (
    SELECT views FROM trackers_score WHERE tweet_id = x.tweet_id AND views IS NOT NULL LIMIT 1
) s
WHERE of.key = ANY(%(keys)s::text[])
GROUP BY 1
