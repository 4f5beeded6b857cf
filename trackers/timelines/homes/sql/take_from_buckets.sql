-- Take tweets out of all buckets of a home, which is locked. The others keep their numbers.
WITH
-- What stays of each bucket, in its order.
kept AS MATERIALIZED (
    SELECT b.n, array_agg(one.id ORDER BY one.nth) AS ids, min(one.id) AS least,
           max(one.id) AS most
    FROM trackers_sizedbucket b
    CROSS JOIN LATERAL unnest(b.ids) WITH ORDINALITY AS one(id, nth)
    WHERE b.follower_id = %(follower)s AND one.id NOT IN (SELECT unnest(%(ids)s::bigint[]))
    GROUP BY b.n
),
-- A bucket of which nothing stays.
empty AS (
    DELETE FROM trackers_sizedbucket
    WHERE follower_id = %(follower)s AND n NOT IN (SELECT n FROM kept)
)
UPDATE trackers_sizedbucket b
SET ids = kept.ids, min_id = kept.least, max_id = kept.most
FROM kept
WHERE b.follower_id = %(follower)s AND b.n = kept.n
  AND cardinality(b.ids) <> cardinality(kept.ids)
