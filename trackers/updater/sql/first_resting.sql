-- Halving the range of ids eighteen times narrows years to minutes. A tenth of a sample at rest is
-- enough: below the boundary some are gone or paused, and above it a few rest as well.
WITH RECURSIVE half AS (
    SELECT 0 AS turn, coalesce(min(id), 0) AS low, least(max(id) + 1, %(beyond)s) AS high
    FROM trackers_tweet
    UNION ALL
    SELECT turn + 1, CASE WHEN rest THEN middle ELSE low END,
           CASE WHEN rest THEN high ELSE middle END
    FROM half
    CROSS JOIN LATERAL (
        -- The first turn asks whether tweets rest where the page begins.
        SELECT CASE WHEN turn = 0 THEN high ELSE low + (high - low) / 2 END AS middle
    ) m
    CROSS JOIN LATERAL (
        SELECT count(*) >= 10 AS rest FROM (
            SELECT id FROM trackers_tweet WHERE id < middle ORDER BY id DESC LIMIT 100
        ) t
        WHERE NOT EXISTS (SELECT FROM trackers_tweetupdate j WHERE j.key = t.id)
    ) probe
    WHERE turn <= 18 AND low < high
)
SELECT high FROM half ORDER BY turn DESC LIMIT 1
