-- Scores that rose past a number since then, the highest first; of tweets that have as much.
SELECT r.tweet_id, r.score, r.at FROM (
    SELECT tweet_id, score, at FROM trackers_recentrise
    WHERE metric = %(metric)s AND score >= %(times)s AND was < %(times)s AND at >= %(since)s
    ORDER BY score DESC, tweet_id DESC LIMIT %(most)s
) r CROSS JOIN LATERAL (
    SELECT CASE %(metric)s
        WHEN 'retweets' THEN retweets WHEN 'replies' THEN replies WHEN 'likes' THEN likes
        WHEN 'quotes' THEN quotes WHEN 'bookmarks' THEN bookmarks ELSE views END AS value
    FROM trackers_tweet WHERE id = r.tweet_id LIMIT 1
) t WHERE t.value >= %(at)s
ORDER BY r.score DESC, r.tweet_id DESC
