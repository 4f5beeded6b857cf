-- Put tweets into the last buckets of homes, and into new ones once these are full.
WITH
-- What is already in some bucket. New tweets are usually newer than all others, so the index on
-- the greatest ids finds hardly any bucket that reaches to the oldest new one.
known AS MATERIALIZED (
    SELECT follower.id AS follower_id, one.id
    FROM unnest(%(followers)s::bigint[]) AS follower(id)
    CROSS JOIN LATERAL (
        SELECT ids FROM trackers_sizedbucket
        WHERE follower_id = follower.id AND max_id >= %(oldest)s::bigint
          AND min_id <= %(newest)s::bigint AND ids && %(ids)s::bigint[] OFFSET 0) b
    CROSS JOIN LATERAL unnest(b.ids) AS one(id)
),
-- Each new tweet of a home has its number among them.
fresh AS MATERIALIZED (
    SELECT follower.id AS follower_id, new.id,
           row_number() OVER (PARTITION BY follower.id ORDER BY new.id) - 1 AS nth
    FROM unnest(%(followers)s::bigint[]) AS follower(id)
    CROSS JOIN unnest(%(ids)s::bigint[]) AS new(id)
    WHERE (follower.id, new.id) NOT IN (SELECT follower_id, id FROM known)
),
-- The homes are locked. Where the buckets of each go on.
counted AS MATERIALIZED (
    UPDATE trackers_builthome f SET total = f.total + n.tweets
    FROM (SELECT follower_id, count(*) AS tweets FROM fresh GROUP BY follower_id) n
    WHERE f.follower_id = n.follower_id AND f.strategy = 'sized'
    RETURNING f.follower_id, f.total - n.tweets AS before
)
INSERT INTO trackers_sizedbucket AS b (follower_id, n, ids, min_id, max_id)
SELECT fresh.follower_id, (counted.before + fresh.nth) / %(size)s::int AS n,
       array_agg(fresh.id ORDER BY fresh.id), min(fresh.id), max(fresh.id)
FROM fresh JOIN counted USING (follower_id)
GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (follower_id, n) DO UPDATE
SET ids = b.ids || excluded.ids, min_id = least(b.min_id, excluded.min_id),
    max_id = greatest(b.max_id, excluded.max_id)
