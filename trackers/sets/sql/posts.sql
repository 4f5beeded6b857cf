-- Some tweets, and what they had at an age. By the key, whatever the statistics say: LATERAL, LIMIT.
-- A retweet has a text and no kind; it has the original's counts, and is left out. So is what is gone.
SELECT t.id, t.author_id, x.kind, coalesce(x.lang, ''), c.age IS NOT NULL,
       c.retweets, c.replies, c.likes, c.quotes, c.bookmarks, c.views
FROM unnest(%(ids)s::bigint[]) AS asked(id)
CROSS JOIN LATERAL (
    SELECT id, author_id FROM trackers_tweet
    WHERE id = asked.id AND gone_at IS NULL AND version_of IS NULL LIMIT 1
) t
LEFT JOIN LATERAL (
    SELECT kind, lang, true AS is_described FROM trackers_tweettext WHERE tweet_id = t.id LIMIT 1
) x ON true
LEFT JOIN LATERAL (
    (SELECT p.ages[p.at] AS age, p.retweets[p.at] AS retweets, p.replies[p.at] AS replies,
            p.likes[p.at] AS likes, p.quotes[p.at] AS quotes, p.bookmarks[p.at] AS bookmarks,
            p.views[p.at] AS views
     FROM (
         SELECT *, array_position(ages, %(age)s::smallint) AS at FROM trackers_packedcheckpoints
         WHERE tweet_id = t.id OFFSET 0
     ) p WHERE p.at IS NOT NULL)
    UNION ALL
    SELECT age, retweets, replies, likes, quotes, bookmarks, views FROM trackers_checkpoint
    WHERE tweet_id = t.id AND age = %(age)s::smallint
    LIMIT 1
) c ON true
WHERE x.kind IS NOT NULL OR x.is_described IS NULL
