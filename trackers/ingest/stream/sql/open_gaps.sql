-- A span that touches an open gap widens it.
WITH
-- FOR NO KEY UPDATE: against polls that fill gaps of the same source.
spans AS MATERIALIZED (
    SELECT s.id, s.filling_id, s.yielded, h.from_id, h.to_id
    FROM unnest(%(ids)s::bigint[], %(from_ids)s::bigint[], %(to_ids)s::bigint[])
             AS h(id, from_id, to_id)
    JOIN trackers_source s ON s.id = h.id
    WHERE h.from_id < h.to_id
    ORDER BY s.id FOR NO KEY UPDATE OF s
),
-- A gap that a poll is just filling is left alone, since the poll decides its end.
touched AS MATERIALIZED (
    SELECT g.id, g.source_id, g.from_id, g.to_id, g.why
    FROM trackers_gap g JOIN spans h ON h.id = g.source_id
    WHERE g.closed_at IS NULL AND g.why IN ('rule', 'stream')
      AND g.id IS DISTINCT FROM h.filling_id
      AND g.from_id <= h.to_id AND g.to_id >= h.from_id
      AND g.found_at > now() - interval '10 minutes'
    FOR UPDATE OF g
),
kept AS MATERIALIZED (
    SELECT source_id, min(id) AS id, min(from_id) AS from_id, max(to_id) AS to_id,
           bool_or(why = 'rule') AS of_rule
    FROM touched GROUP BY source_id
),
widened AS (
    UPDATE trackers_gap g
    SET from_id = least(k.from_id, h.from_id), to_id = greatest(k.to_id, h.to_id),
        why = CASE WHEN k.of_rule THEN 'rule' ELSE %(why)s END
    FROM kept k JOIN spans h ON h.id = k.source_id
    WHERE g.id = k.id
),
swallowed AS (
    DELETE FROM trackers_gap
    WHERE id IN (SELECT id FROM touched) AND id NOT IN (SELECT id FROM kept)
),
-- If another gap is widened, the new version stops polls that had read it before.
told AS (
    UPDATE trackers_source SET version = version + 1
    WHERE id IN (SELECT source_id FROM kept)
)
INSERT INTO trackers_gap (source_id, from_id, to_id, why, token, yielded_when_found, found_at)
SELECT h.id, h.from_id, h.to_id, %(why)s, '', h.yielded, now()
FROM spans h WHERE NOT EXISTS (SELECT FROM kept k WHERE k.source_id = h.id)
RETURNING source_id, from_id, to_id
