-- Put tweets into the buckets of homes, which are locked, in the order of homes.
WITH
-- The tweets of each bucket, newest first. Integer division of positive numbers rounds down.
-- LATERAL with a LIMIT: only those without a time in their ids are looked up.
sheets AS MATERIALIZED (
    SELECT born.bucket, array_agg(born.id ORDER BY born.id DESC) AS ids
    FROM (
        SELECT asked.id, CASE WHEN asked.id > {last_counted}
                   THEN ((asked.id >> {low_bits}) + {twepoch_ms}) / %(span)s::bigint
               ELSE coalesce(floor(extract(epoch FROM t.created_at) * 1000 / %(span)s::bigint),
                             0) END::int AS bucket
        FROM unnest(%(ids)s::bigint[]) AS asked(id)
        LEFT JOIN LATERAL (
            SELECT created_at FROM trackers_tweet
            WHERE asked.id <= {last_counted} AND id = asked.id LIMIT 1) t ON true
    ) born
    GROUP BY born.bucket
)
-- Usually all tweets are younger than those in the bucket, so nothing has to be sorted.
INSERT INTO trackers_timedbucket AS b (follower_id, bucket, ids)
SELECT follower.id, sheets.bucket, sheets.ids
FROM unnest(%(followers)s::bigint[]) AS follower(id) CROSS JOIN sheets
ORDER BY follower.id, sheets.bucket
ON CONFLICT (follower_id, bucket) DO UPDATE
SET ids = CASE WHEN excluded.ids[cardinality(excluded.ids)] > b.ids[1]
               THEN excluded.ids || b.ids
               ELSE ARRAY(SELECT DISTINCT one FROM unnest(b.ids || excluded.ids) AS one
                          ORDER BY one DESC) END
WHERE NOT b.ids @> excluded.ids
