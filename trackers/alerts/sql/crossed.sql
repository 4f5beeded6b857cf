-- Tweets that reached a figure since then, with what they have, and when, where that is known: those
-- to which it happened, and of those that gained most in a day what had less before.
WITH happened AS MATERIALIZED (
    SELECT tweet_id, max(at) AS at FROM (
        SELECT tweet_id, at, figures FROM trackers_happening
        WHERE what = %(what)s AND at >= %(since)s ORDER BY at DESC LIMIT %(most)s
    ) latest
    WHERE figures->>'metric' = %(metric)s AND (figures->>'at')::bigint = %(at)s
    GROUP BY tweet_id
),
list AS MATERIALIZED (
    SELECT tweet_id, gain FROM trackers_gain
    WHERE minutes = %(day)s AND metric = %(metric)s
    ORDER BY gain DESC, tweet_id DESC LIMIT %(list_most)s
),
gained AS MATERIALIZED (
    SELECT list.tweet_id, t.value FROM list CROSS JOIN LATERAL (
        SELECT CASE %(metric)s
            WHEN 'retweets' THEN retweets WHEN 'replies' THEN replies WHEN 'likes' THEN likes
            WHEN 'quotes' THEN quotes WHEN 'bookmarks' THEN bookmarks ELSE views END AS value
        FROM trackers_tweet WHERE id = list.tweet_id LIMIT 1
    ) t WHERE t.value >= %(at)s AND t.value - list.gain < %(at)s
)
SELECT tweet_id, coalesce(g.value, %(at)s), h.at,
       (SELECT count(*) >= %(list_most)s FROM list)
FROM happened h FULL JOIN gained g USING (tweet_id)
