-- What is new ─> what was added ─> the timelines that have grown.
-- ON CONFLICT sees what is committed, whatever this statement saw when it began: an existing entry
-- stays as it is, and a tombstone stays dead.
added AS (
    INSERT INTO trackers_timelineentry (timeline_id, entry_id, seq, secondary, metadata)
    SELECT timeline_id, entry_id, seq, secondary, metadata FROM fresh
    ON CONFLICT (timeline_id, entry_id) DO NOTHING
    RETURNING timeline_id
),
-- = ANY of an array and {entries} (how often an id is in it) stand in for a join to `added`, which
-- might be planned as a comparison of all with all.
grown AS (
    UPDATE trackers_timeline t
    SET seq = t.seq + 1, size = t.size + {entries}
    FROM (SELECT array_agg(timeline_id ORDER BY timeline_id) AS ids FROM added) a
    WHERE t.id = ANY(a.ids)
    RETURNING t.name, t.size
)
SELECT name, size FROM grown WHERE size > %(upper)s
