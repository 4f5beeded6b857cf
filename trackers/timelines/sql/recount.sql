-- The timelines are locked. `live` makes a timeline live, read at `read_at`; null: now.
UPDATE trackers_timeline t
SET live = t.live OR a.live, seq = a.seq, last_read_at = a.read_at,
    read_on = (a.read_at AT TIME ZONE 'UTC')::date,
    -- A scalar subquery counts each by itself.
    size = (SELECT count(*) FROM trackers_timelineentry
            WHERE timeline_id = a.id AND dead_at IS NULL)
FROM (
    SELECT n.id, n.seq, n.live, CASE
        WHEN n.read_at IS NULL THEN statement_timestamp()
        WHEN before.live THEN greatest(before.last_read_at, n.read_at) ELSE n.read_at
    END AS read_at
    FROM unnest(%(timelines)s::bigint[], %(seqs)s::bigint[], %(live)s::bool[],
                %(read_at)s::timestamptz[]) AS n(id, seq, live, read_at)
    CROSS JOIN LATERAL (SELECT * FROM trackers_timeline WHERE id = n.id OFFSET 0) before
) a
WHERE t.id = ANY(ARRAY[a.id])
RETURNING t.id, t.size
