WITH
-- Locked as in `tagging`, so it is not ended meanwhile. An ended tag can no longer be put on a
-- tweet.
target AS MATERIALIZED (
    SELECT id FROM trackers_tag WHERE id = %(into)s AND ended_at IS NULL FOR SHARE
),
-- The limit is a literal: if the planner did not know it, it would plan for all rows. An array,
-- since for a join the planner would scan the whole table.
gone AS (
    DELETE FROM trackers_tweettag WHERE tag_id = %(tag)s AND tweet_id = ANY(ARRAY(
        SELECT tweet_id FROM trackers_tweettag WHERE tag_id = %(tag)s
        ORDER BY tweet_id LIMIT {piece} FOR UPDATE))
    RETURNING tweet_id
),
held AS MATERIALIZED (
    SELECT held.id FROM (SELECT tweet_id FROM gone ORDER BY tweet_id) gone
    CROSS JOIN LATERAL (
        SELECT id FROM trackers_tweet WHERE id = gone.tweet_id FOR KEY SHARE) held
),
moved AS (
    INSERT INTO trackers_tweettag (tag_id, tweet_id)
    SELECT target.id, held.id FROM target CROSS JOIN held
    ON CONFLICT DO NOTHING
),
uncounted AS ({uncounted})
SELECT count(*) FROM gone
