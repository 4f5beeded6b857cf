-- The tweets of the oldest statements, once each, that are to be ranked as they are now: another
-- piece may have ranked them since they were noted.
-- SKIP LOCKED is not needed: only one process at a time works on a piece.
WITH oldest AS MATERIALIZED (
    SELECT id, sum(cardinality(ids)) OVER (ORDER BY id) - cardinality(ids) AS before
    FROM (SELECT id, ids FROM trackers_changed ORDER BY id LIMIT %(statements)s) first
),
taken AS (
    DELETE FROM trackers_changed
    WHERE id = ANY(ARRAY(SELECT id FROM oldest WHERE before < %(tweets)s))
    RETURNING ids
)
SELECT (SELECT count(*) FROM taken), array_agg(id)
FROM (SELECT DISTINCT id FROM taken, unnest(ids) AS id) noted
CROSS JOIN LATERAL (
    SELECT FROM trackers_tweet t
    WHERE t.id = ANY(ARRAY[noted.id]) AND {may_be_listed}
    -- By its key, whatever the statistics say.
    OFFSET 0
) still
