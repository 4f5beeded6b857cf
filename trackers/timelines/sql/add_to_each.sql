-- Each entry to the name at its `place`.
WITH
-- Locks: the rows of the timelines, in the order of names, as in add_to_all.sql.
locked AS MATERIALIZED (
    SELECT a.place, t.id, t.seq, t.live
    FROM unnest(%(names)s::text[]) WITH ORDINALITY AS a(name, place)
    LEFT JOIN LATERAL (
        SELECT id, seq, live FROM trackers_timeline WHERE name = a.name FOR NO KEY UPDATE
    ) t ON true
),
-- The timelines by place, again instead of a join: 0 for one that is missing or not live.
placed AS MATERIALIZED (
    SELECT array_agg(CASE WHEN live THEN id ELSE 0 END ORDER BY place) AS ids,
           array_agg(coalesce(seq, 0) ORDER BY place) AS seqs
    FROM locked
),
fresh AS (
    SELECT p.ids[n.place] AS timeline_id, n.entry_id, p.seqs[n.place] + 1 AS seq,
           n.secondary, n.metadata
    FROM placed p CROSS JOIN unnest(
        %(places)s::int[], %(ids)s::bigint[], %(secondaries)s::bigint[], %(metadata)s::bytea[]
    ) AS n(place, entry_id, secondary, metadata)
    WHERE p.ids[n.place] > 0
),
{added}
