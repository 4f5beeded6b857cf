-- The sets of one kind: what they have in a period and the one before it, from their rollups. Of each
-- figure the highest are listed. Figures at the age are of the posts that have reached it.
WITH summed AS MATERIALIZED (
    SELECT key, {sums} FROM trackers_rollup
    WHERE kind = %(kind)s AND quarter >= %(before)s AND quarter < %(until)s
    GROUP BY key
)
SELECT key, {columns} FROM (
    SELECT *, {places} FROM summed WHERE posts > 0
) placed WHERE least({each_place}) <= %(most)s
