-- From each quarter with a tweet to the next one, by the key: some 10 µs each, however many tweets
-- there are.
WITH RECURSIVE found AS (
    (SELECT trackers_quarter_v1(id) AS quarter FROM trackers_tweet
     WHERE id >= %(since)s ORDER BY id LIMIT 1)
    UNION ALL
    SELECT trackers_quarter_v1(next.id) FROM found CROSS JOIN LATERAL (
        SELECT id FROM trackers_tweet
        WHERE id >= ((found.quarter + 1)::bigint * 900000 - 1288834974657) << 22
        ORDER BY id LIMIT 1
    ) next
)
INSERT INTO trackers_rollupquarter (quarter, due_at)
SELECT quarter, %(now)s FROM found ORDER BY quarter
ON CONFLICT (quarter) DO NOTHING
