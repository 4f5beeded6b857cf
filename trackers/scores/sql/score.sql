-- The scores of these tweets as they are now, to sort by. A tweet without any has no row.
WITH asked AS MATERIALIZED (
    SELECT DISTINCT id FROM unnest(%(ids)s::bigint[]) AS asked(id)
),
{scored},
has_any AS MATERIALIZED (
    SELECT * FROM scored WHERE num_nonnulls({scores}) > 0
),
-- Gone since, or their authors have too few posts again.
without AS (
    DELETE FROM trackers_score WHERE ctid = ANY(ARRAY(
        SELECT s.ctid FROM asked CROSS JOIN LATERAL (
            SELECT ctid FROM trackers_score WHERE tweet_id = asked.id LIMIT 1
        ) s WHERE asked.id NOT IN (SELECT id FROM has_any)))
),
-- For alert rules. One that is old when its first score is known did not rise now.
risen AS (
    INSERT INTO trackers_scorerise (at, tweet_id, metric, was, score)
    SELECT %(now)s, h.id, of.metric, coalesce(of.was, 0), of.score
    FROM has_any h
    LEFT JOIN LATERAL (
        SELECT * FROM trackers_score WHERE tweet_id = h.id LIMIT 1
    ) s ON true
    CROSS JOIN LATERAL (VALUES {rises}) AS of(metric, was, score)
    WHERE of.score >= {stands_out} AND of.score > coalesce(of.was, 0)
      AND (s.tweet_id IS NOT NULL OR h.age <= {young})
    ORDER BY h.id
)
-- Only one process writes scores at a time.
INSERT INTO trackers_score AS s (tweet_id, at, {columns})
SELECT id, %(now)s, {scores}, {expected} FROM has_any ORDER BY id
ON CONFLICT (tweet_id) DO UPDATE SET (at, {columns}) = ROW (excluded.at, {excluded})
WHERE ({old}) IS DISTINCT FROM ({excluded})
