-- The look-ups that are read, each with the number it stands for.
youngest AS MATERIALIZED (
    SELECT key, due_at FROM trackers_tweetupdate ORDER BY key DESC LIMIT %(exactly)s
),
edge AS MATERIALIZED (
    SELECT min(key) AS key FROM youngest HAVING count(*) = %(exactly)s
),
-- The lowest hashes are a random sample.
drawn AS MATERIALIZED (
    SELECT key, due_at, hashint8(key) AS hash FROM trackers_tweetupdate
    WHERE {in_sample} ORDER BY hashint8(key) LIMIT %(drawn)s
),
counted AS MATERIALIZED (
    SELECT key, due_at, 1::float8 AS weight FROM youngest
    UNION ALL
    SELECT drawn.key, drawn.due_at, share.weight
    FROM drawn JOIN edge ON drawn.key < edge.key
    CROSS JOIN (
        -- If the limit cuts the sample, the last hash shows its share of all.
        SELECT {hashes}::float8 / CASE WHEN count(*) < %(drawn)s THEN {sampled_hashes}
                                       ELSE max(hash) + 1 END AS weight
        FROM drawn
    ) share
)
