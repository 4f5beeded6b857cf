-- {beyond}, {within}: < and >= on the way to older tweets.
-- LATERAL with a LIMIT: by the index, whatever the statistics say. `origins`: null means all that
-- the follower follows.
WITH
-- Each origin is asked for its one tweet next to the anchor.
heads AS MATERIALIZED (
    SELECT f.origin_id, head.id
    FROM trackers_follow f CROSS JOIN LATERAL (
        SELECT tweet_id AS id FROM trackers_sourcetweet
        WHERE source_id = f.origin_id AND tweet_id {beyond} %(anchor)s::bigint
        ORDER BY tweet_id {order} LIMIT 1) head
    WHERE f.follower_id = %(follower)s AND f.origin_id > 0
      AND (%(origins)s::bigint[] IS NULL OR f.origin_id = ANY(%(origins)s::bigint[]))
    UNION ALL
    SELECT f.origin_id, head.id
    FROM trackers_follow f CROSS JOIN LATERAL (
        SELECT id FROM trackers_tweet
        WHERE author_id = -f.origin_id AND id {beyond} %(anchor)s::bigint
        ORDER BY id {order} LIMIT 1) head
    WHERE f.follower_id = %(follower)s AND f.origin_id < 0
      AND (%(origins)s::bigint[] IS NULL OR f.origin_id = ANY(%(origins)s::bigint[]))
),
-- As many different ones as the page has tweets: what is beyond is not read at all.
bound AS MATERIALIZED (
    SELECT coalesce(
        (SELECT DISTINCT id FROM heads ORDER BY id {order}
         OFFSET greatest(%(limit)s::int, 1) - 1 LIMIT 1),
        {end}) AS id
),
found AS (
    SELECT tweet.id
    FROM heads CROSS JOIN LATERAL (
        SELECT tweet_id AS id FROM trackers_sourcetweet
        WHERE source_id = heads.origin_id AND tweet_id {beyond} %(anchor)s::bigint
          AND tweet_id {within} (SELECT id FROM bound)
        ORDER BY tweet_id {order} LIMIT %(limit)s::int) tweet
    WHERE heads.origin_id > 0 AND heads.id {within} (SELECT id FROM bound)
    UNION
    SELECT tweet.id
    FROM heads CROSS JOIN LATERAL (
        SELECT id FROM trackers_tweet
        WHERE author_id = -heads.origin_id AND id {beyond} %(anchor)s::bigint
          AND id {within} (SELECT id FROM bound)
        ORDER BY id {order} LIMIT %(limit)s::int) tweet
    WHERE heads.origin_id < 0 AND heads.id {within} (SELECT id FROM bound)
)
{nearest}
