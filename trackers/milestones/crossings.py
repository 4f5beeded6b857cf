"""Which tweets reach a milestone by what was just measured: parts of the statement that records it.

news (figures before and after) ─> near ─> passed: new crossings, which are told
                                       └─> fallen: crossings that may be told again
"""

from __future__ import annotations

from trackers.outbox.staging import MILESTONES

# Whether there is anything to do for milestones. Also while nobody subscribes a tweet that falls is
# forgotten, so that who subscribes later hears of it.
ARE_KEPT = f"({MILESTONES}) IS NOT NULL OR EXISTS (SELECT FROM trackers_crossing)"

# Behind `topic` (outbox.staging) and `news` (tweets.record): tweets that are locked, with their six
# figures before and the six after in one array `f`.
# What a tweet had when it was measured first, or after an unknown figure, it did not reach before
# our eyes: that is no crossing. A crossing is kept until the figure is below 90 % of it, so that
# one which sways around a milestone is told once.
# Several milestones that are reached at once are told a millisecond apart.
# f[1:12], OFFSET 0: an array that comes out of a CTE would be unpacked at each look into it.
# LIMIT 1: crossings are looked for by their key, whatever the statistics say.
PASSED = f"""
    near AS MATERIALIZED (
        SELECT n.id, t, metric, m.at, f[nth + 6] AS figure, f[nth + 6] >= m.at AS is_up
        FROM (SELECT id, t, f[1:12] AS f FROM news OFFSET 0) n CROSS JOIN trackers_milestone m
        WHERE ({ARE_KEPT})
          AND CASE WHEN f[nth + 6] >= m.at THEN f[nth] < m.at
                   ELSE f[nth + 6] < m.low AND (f[nth] < m.low) IS NOT TRUE END
    ),
    passed AS (
        INSERT INTO trackers_crossing (tweet_id, metric, at, figure, t)
        SELECT id, metric, at, figure, t + row_number() OVER (PARTITION BY id ORDER BY at, metric)
        FROM near WHERE is_up AND ({MILESTONES}) IS NOT NULL
        ON CONFLICT DO NOTHING
        RETURNING *
    ),
    fallen AS (
        DELETE FROM trackers_crossing WHERE ctid = ANY(ARRAY(
            SELECT c.ctid FROM near n CROSS JOIN LATERAL (
                SELECT ctid FROM trackers_crossing
                WHERE tweet_id = n.id AND metric = n.metric AND at = n.at LIMIT 1
            ) c WHERE NOT is_up))
    )
"""
