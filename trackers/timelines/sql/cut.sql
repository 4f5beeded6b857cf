-- The timelines are locked. Deletes all but the newest `lower` entries of each that is still too
-- long.
WITH
-- The lowest entry that stays. OFFSET 0: each size is read by the id.
lowest AS MATERIALIZED (
    SELECT a.id, e.entry_id
    FROM unnest(%(ids)s::bigint[], %(lowers)s::int[], %(uppers)s::int[]) AS a(id, lower, upper)
    CROSS JOIN LATERAL (
        SELECT size FROM trackers_timeline WHERE id = a.id OFFSET 0
    ) t
    CROSS JOIN LATERAL (
        SELECT entry_id FROM trackers_timelineentry
        WHERE timeline_id = a.id AND dead_at IS NULL
        ORDER BY entry_id DESC OFFSET a.lower - 1 LIMIT 1
    ) e
    WHERE t.size > a.upper
),
cut AS (
    DELETE FROM trackers_timelineentry e USING lowest l
    WHERE e.timeline_id = ANY(ARRAY[l.id]) AND e.entry_id < l.entry_id AND e.dead_at IS NULL
    RETURNING e.timeline_id
)
UPDATE trackers_timeline t SET size = t.size - c.entries
FROM (SELECT timeline_id, count(*) AS entries FROM cut GROUP BY timeline_id) c
WHERE t.id = ANY(ARRAY[c.timeline_id])
