-- One by one by their key, only in the partitions of their days, with LIMIT 1: for a list of ids
-- the planner may read a whole partition that it believes to be empty. Filters are as on the bus:
-- the author and the sources of an untracked tweet are no longer known, so its `delete` passes.
SELECT e.id, topic.name, e.type, e.t, e.tweet_id, e.url, e.figures, e.data::text, s.scores
FROM unnest(%(ids)s::bigint[]) AS wanted(id)
CROSS JOIN LATERAL (
    SELECT id, topic_id, type, t, tweet_id, url, figures, data FROM trackers_event
    WHERE id = wanted.id AND received_at BETWEEN %(first_at)s AND %(last_at)s LIMIT 1
) e
JOIN trackers_topic topic ON topic.id = e.topic_id
LEFT JOIN LATERAL (
    SELECT ARRAY[retweets, replies, likes, quotes, bookmarks, views] AS scores
    FROM trackers_score WHERE e.figures IS NOT NULL AND tweet_id = e.tweet_id LIMIT 1
) s ON true
CROSS JOIN LATERAL (
    SELECT e.type = 'delete' AND NOT EXISTS (
        SELECT FROM trackers_tweet WHERE id = e.tweet_id) AS is_lost
) l
WHERE (%(author)s::bigint IS NULL OR is_lost OR EXISTS (
          SELECT FROM trackers_tweet WHERE id = e.tweet_id AND author_id = %(author)s))
  AND (%(source)s::bigint IS NULL OR is_lost OR EXISTS (
          SELECT FROM trackers_sourcetweet
          WHERE tweet_id = e.tweet_id AND source_id = %(source)s))
