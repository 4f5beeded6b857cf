-- Every followed origin is asked for its tweets near the anchor.
WITH
-- Exclusive, as in near_together.sql.
reach AS MATERIALIZED (
    SELECT coalesce(
        (SELECT tweet_id FROM trackers_sourcetweet WHERE tweet_id {beyond} %(anchor)s::bigint
         ORDER BY tweet_id {order} OFFSET {last_place} LIMIT 1), {end}) AS id
),
found AS (
    SELECT tweet.id
    FROM trackers_follow f CROSS JOIN LATERAL (
        SELECT tweet_id AS id FROM trackers_sourcetweet
        WHERE source_id = f.origin_id AND tweet_id {beyond} %(anchor)s::bigint
          AND tweet_id {inside} (SELECT id FROM reach)
        ORDER BY tweet_id {order} LIMIT %(limit)s::int) tweet
    WHERE f.follower_id = %(follower)s AND f.origin_id > 0
    UNION
    {posted}
)
{nearest}
