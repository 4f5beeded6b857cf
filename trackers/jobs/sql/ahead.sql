-- Each LIMIT bounds the walk: the first by the index on due times, the second before any job is
-- looked for. Dead entries are walked, and not counted. What is claimed is due at the end of its
-- lease, which says nothing.
SELECT now(), least(%(minutes)s - 1, floor(
           extract(epoch FROM due_at - date_trunc('minute', now())) / 60))::int AS place,
       count(live), count(*), max(due_at)
FROM (
    SELECT due_at, lease, stamp, key FROM (
        SELECT due_at, lease, stamp, keys FROM {bucket}
        WHERE due_at > now()
          AND due_at < date_trunc('minute', now()) + %(minutes)s * interval '1 minute'
        ORDER BY due_at LIMIT %(most)s
    ) AS b CROSS JOIN LATERAL unnest(b.keys) AS entry(key)
    LIMIT %(most)s
) AS entry
-- LIMIT 1: each job is found by its key, whatever the statistics say.
LEFT JOIN LATERAL (
    SELECT true AS live FROM {job} j
    WHERE entry.lease IS NULL AND j.key = entry.key AND j.stamp = entry.stamp LIMIT 1
) AS job ON true
GROUP BY place ORDER BY place
