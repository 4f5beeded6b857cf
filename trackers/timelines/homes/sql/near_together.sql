-- All tweets near the anchor, of which those of followed origins are kept.
WITH
-- The LIMIT is not a parameter: for an unknown one the planner expects a tenth of the table.
brought AS MATERIALIZED (
    SELECT tweet_id AS id, source_id FROM trackers_sourcetweet
    WHERE tweet_id {beyond} %(anchor)s::bigint
    ORDER BY tweet_id {order} LIMIT {near_together}
),
-- Exclusive, since of the last tweet of a full list some sources may be missing.
reach AS MATERIALIZED (
    SELECT coalesce(
        (SELECT {last}(id) FROM brought HAVING count(*) = {near_together}), {end}) AS id
),
followed AS MATERIALIZED (
    SELECT origin_id FROM trackers_follow WHERE follower_id = %(follower)s AND origin_id > 0
),
found AS (
    SELECT id FROM brought
    WHERE source_id IN (SELECT origin_id FROM followed) AND id {inside} (SELECT id FROM reach)
    UNION
    {posted}
)
{nearest}
