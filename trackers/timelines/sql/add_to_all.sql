-- The same entries to all of the names.
WITH
-- Locks: the rows of the timelines, in the order of names (`locks`). `live` and `seq` are read
-- after the row is locked, so that `seq` goes by the order of commits.
locked AS MATERIALIZED (
    SELECT id, seq, live FROM trackers_timeline WHERE name = ANY(%(names)s::text[])
    ORDER BY name FOR NO KEY UPDATE
),
-- Timeline by timeline, the order of the indexes: entry by entry, each row would go to a different
-- page. `live` is checked on the rows that were found, or the planner might read all live timelines
-- by their index.
fresh AS (
    SELECT l.id AS timeline_id, n.entry_id, l.seq + 1 AS seq, n.secondary, n.metadata
    FROM locked l CROSS JOIN unnest(
        %(ids)s::bigint[], %(secondaries)s::bigint[], %(metadata)s::bytea[]
    ) AS n(entry_id, secondary, metadata)
    WHERE l.live
    ORDER BY l.id, n.entry_id
),
{added}
