-- What followed accounts posted. LATERAL with a LIMIT: by the index, whatever the statistics say.
SELECT tweet.id
FROM trackers_follow f CROSS JOIN LATERAL (
    SELECT id FROM trackers_tweet
    WHERE author_id = -f.origin_id AND id {beyond} %(anchor)s::bigint
      AND id {inside} (SELECT id FROM reach)
    ORDER BY id {order} LIMIT %(limit)s::int) tweet
WHERE f.follower_id = %(follower)s AND f.origin_id < 0
