-- The quarters that were counted longest ago, of some thousand posts together, one at least. From
-- the index `rollup_counted`. What is due is made anew anyway.
SELECT quarter FROM (
    SELECT quarter, sum(posts + 1) OVER (ORDER BY counted_at, quarter) - posts AS posts_before
    FROM (
        SELECT quarter, posts, counted_at FROM trackers_rollupquarter
        WHERE counted_at < %(before)s AND due_at IS NULL
        ORDER BY counted_at LIMIT 1000
    ) oldest
) counted WHERE posts_before < {most}
