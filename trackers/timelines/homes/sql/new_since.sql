-- Tweets that came into a home since a position. {came}: which arrivals are later than that.
WITH
-- Arrivals of what is followed: the newest of each origin that brought any.
came AS MATERIALIZED (
    SELECT a.origin_id, a.tweet_id
    FROM trackers_follow f
    CROSS JOIN LATERAL (
        SELECT id FROM trackers_origin
        WHERE id = f.origin_id AND clock > %(number)s::bigint - {look_back} LIMIT 1) origin
    CROSS JOIN LATERAL (
        SELECT origin_id, tweet_id FROM trackers_arrival a
        WHERE origin_id = origin.id AND number > %(number)s::bigint - {look_back}
          AND {came}
        ORDER BY number DESC LIMIT {most}) a
    WHERE f.follower_id = %(follower)s
)
SELECT tweet.id
FROM (SELECT DISTINCT tweet_id FROM came) new
CROSS JOIN LATERAL (
    SELECT id, author_id FROM trackers_tweet
    WHERE id = new.tweet_id AND gone_at IS NULL LIMIT 1) tweet
-- Not if a followed origin brought it before, or posted it.
WHERE (SELECT true FROM trackers_sourcetweet st
       JOIN trackers_follow f ON f.follower_id = %(follower)s AND f.origin_id = st.source_id
       WHERE st.tweet_id = tweet.id
         AND (st.source_id, tweet.id) NOT IN (SELECT origin_id, tweet_id FROM came)
       LIMIT 1) IS NULL
  AND (SELECT true FROM trackers_follow f
       WHERE f.follower_id = %(follower)s AND f.origin_id = -tweet.author_id
         AND (f.origin_id, tweet.id) NOT IN (SELECT origin_id, tweet_id FROM came)
       LIMIT 1) IS NULL
ORDER BY tweet.id DESC LIMIT {most} + 1
