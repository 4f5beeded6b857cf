-- The timelines are locked, and come in the order of their ids, by which their `seqs` are found.
WITH
-- An entry that was not there becomes a tombstone at once, with the `seq` of this write; one
-- that was live keeps its own, lower one, by which it is known, and is no longer counted.
marked AS (
    INSERT INTO trackers_timelineentry AS e (timeline_id, entry_id, seq, dead_at)
    SELECT t.id, d.id, t.seq + 1, statement_timestamp()
    FROM unnest(%(timelines)s::bigint[], %(seqs)s::bigint[]) AS t(id, seq)
    CROSS JOIN unnest(%(ids)s::bigint[]) AS d(id)
    ON CONFLICT (timeline_id, entry_id) DO UPDATE
    SET dead_at = excluded.dead_at, secondary = NULL, metadata = NULL
    WHERE e.dead_at IS NULL
    RETURNING e.timeline_id, e.seq
)
UPDATE trackers_timeline t SET seq = t.seq + 1, size = t.size - {times_live}
FROM (
    SELECT array_agg(timeline_id) AS ids,
           coalesce(array_agg(timeline_id ORDER BY timeline_id) FILTER (
               WHERE seq <= (%(seqs)s::bigint[])[
                   width_bucket(timeline_id, %(timelines)s::bigint[])]
           ), '{}') AS were_live
    FROM marked
) m
WHERE t.id = ANY(m.ids)
