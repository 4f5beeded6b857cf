-- Arrays: the packed ones as they are, and one more for what is not packed yet. Ten thousand
-- samples take half the time of as many rows.
SELECT tweet_id, taken_at, measured_until, measurements,
       retweets, replies, likes, quotes, bookmarks, views
FROM trackers_packedsamples WHERE tweet_id = ANY(%(ids)s::bigint[])
UNION ALL
SELECT tweet_id, array_agg(taken_at), array_agg(measured_until), array_agg(measurements),
       array_agg(retweets), array_agg(replies), array_agg(likes),
       array_agg(quotes), array_agg(bookmarks), array_agg(views)
FROM (
    SELECT tweet_id, taken_at, measured_until, measurements,
           retweets, replies, likes, quotes, bookmarks, views
    FROM trackers_sample WHERE tweet_id = ANY(%(ids)s::bigint[])
    UNION ALL
    SELECT id, taken_at, measured_until, measurements,
           retweets, replies, likes, quotes, bookmarks, views
    FROM trackers_tweet WHERE id = ANY(%(ids)s::bigint[]) AND measurements > 0
) AS recent
GROUP BY tweet_id
