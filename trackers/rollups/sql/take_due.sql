-- The newest quarters that are due, of some thousand posts together, one at least. From the index
-- `rollup_due`. None waits longer than `longest`: what is due later was written with a clock ahead.
SELECT quarter FROM (
    SELECT quarter, sum(coalesce(posts, {assumed}) + 1) OVER (ORDER BY quarter DESC)
                    - coalesce(posts, {assumed}) AS posts_before
    FROM (
        SELECT quarter, posts FROM trackers_rollupquarter
        WHERE due_at <= %(now)s OR due_at > %(now)s + %(longest)s::interval
        ORDER BY quarter DESC LIMIT 1000
    ) newest
) due WHERE posts_before < {most}
