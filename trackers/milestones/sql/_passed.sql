-- Follows the CTEs `topic` (outbox.staging) and `news` (tweets.record), whose tweets are locked;
-- `f` has the six metrics before and the six after.
-- A first measurement, or one after an unknown value, is not a crossing: nobody saw the tweet reach
-- the milestone.
-- f[1:12], OFFSET 0: an array taken directly from a CTE would be unpacked at each access.
near AS MATERIALIZED (
    SELECT n.id, t, metric, m.at, f[nth + 6] AS figure, f[nth + 6] >= m.at AS is_up
    FROM (SELECT id, t, f[1:12] AS f FROM news OFFSET 0) n CROSS JOIN trackers_milestone m
    WHERE ({are_kept})
      AND CASE WHEN f[nth + 6] >= m.at THEN f[nth] < m.at
               ELSE f[nth + 6] < m.low AND (f[nth] < m.low) IS NOT TRUE END
),
-- The events of several milestones reached at once are a millisecond apart. `is_own`: only rules of
-- a person's own ask for it, so nobody is told by an event.
passed AS (
    INSERT INTO trackers_crossing (tweet_id, metric, at, figure, t)
    SELECT id, metric, at, figure, t + row_number() OVER (PARTITION BY id ORDER BY at, metric)
    FROM near WHERE is_up AND ({milestones}) IS NOT NULL
    ON CONFLICT DO NOTHING
    RETURNING *, NOT EXISTS (
        SELECT FROM trackers_milestone m
        WHERE m.metric = trackers_crossing.metric AND m.at = trackers_crossing.at AND NOT m.is_own
    ) AS is_own
),
-- A crossing is kept until the metric falls below 90% of the milestone, so that a tweet that hovers
-- around one is reported once.
-- LIMIT 1: crossings are found by their key, whatever the statistics say.
fallen AS (
    DELETE FROM trackers_crossing WHERE ctid = ANY(ARRAY(
        SELECT c.ctid FROM near n CROSS JOIN LATERAL (
            SELECT ctid FROM trackers_crossing
            WHERE tweet_id = n.id AND metric = n.metric AND at = n.at LIMIT 1
        ) c WHERE NOT is_up))
)
