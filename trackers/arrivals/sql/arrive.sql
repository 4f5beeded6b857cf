-- Numbers are drawn after `held` has locked their origin, and the lock lasts until the commit. So a
-- reader never sees a higher number of an origin before a lower one, and misses nothing behind its
-- mark.
WITH
-- The index of origins is looked into first: if no accounts are followed, no tweets are read.
came AS MATERIALIZED (
    SELECT origin, tweet
    FROM unnest(%(origins)s::bigint[], %(tweets)s::bigint[]) AS came(origin, tweet)
    UNION ALL
    SELECT -t.author_id, t.id
    FROM unnest(%(described)s::bigint[]) AS told(id) CROSS JOIN LATERAL (
        SELECT id, author_id FROM trackers_tweet WHERE id = told.id LIMIT 1) t
    WHERE (SELECT true FROM trackers_origin WHERE id < 0 LIMIT 1)
),
held AS MATERIALIZED (
    SELECT id FROM trackers_origin WHERE id = ANY(ARRAY(SELECT DISTINCT origin FROM came))
    ORDER BY id FOR NO KEY UPDATE
),
numbered AS (
    INSERT INTO trackers_arrival (origin_id, number, tweet_id, xid, horizon, came_at)
    SELECT held.id, nextval('trackers_arrival_number'), came.tweet,
           pg_current_xact_id()::text::bigint,
           pg_snapshot_xmin(pg_current_snapshot())::text::bigint, clock_timestamp()
    FROM held JOIN came ON came.origin = held.id
    RETURNING origin_id, number
),
waked AS (
    UPDATE trackers_origin o SET clock = last.number
    FROM (SELECT origin_id, max(number) AS number FROM numbered GROUP BY origin_id) last
    WHERE o.id = last.origin_id
    RETURNING o.id
),
{put}
