-- Each tweet's checkpoints, those of past days and those since. One that crossed an age twice, as a
-- clock was ahead, has the lower views.
SELECT DISTINCT ON (tweet_id, age)
       tweet_id, age, retweets, replies, likes, quotes, bookmarks, views
FROM (
    SELECT p.tweet_id, of.age, of.retweets, of.replies, of.likes, of.quotes, of.bookmarks, of.views
    FROM unnest(%(ids)s::bigint[]) AS asked(id)
    CROSS JOIN LATERAL (
        SELECT * FROM trackers_packedcheckpoints WHERE tweet_id = asked.id LIMIT 1
    ) p
    CROSS JOIN LATERAL unnest(
        p.ages, p.retweets, p.replies, p.likes, p.quotes, p.bookmarks, p.views
    ) AS of(age, retweets, replies, likes, quotes, bookmarks, views)
    UNION ALL
    SELECT c.tweet_id, c.age, c.retweets, c.replies, c.likes, c.quotes, c.bookmarks, c.views
    FROM unnest(%(ids)s::bigint[]) AS asked(id)
    CROSS JOIN LATERAL (
        SELECT * FROM trackers_checkpoint WHERE tweet_id = asked.id OFFSET 0
    ) c
) both_of
WHERE age = ANY(%(ages)s::smallint[])
ORDER BY tweet_id, age, views
