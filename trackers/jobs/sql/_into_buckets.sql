-- New buckets for the jobs in a CTE `put` (key, due_at, strikes, urgent, stamp), which have their
-- new stamps already.
INSERT INTO {bucket} (due_at, strikes, urgent, stamp, keys)
SELECT due_at, strikes, urgent, stamp, array_agg(key ORDER BY key)
FROM (
    SELECT *, (row_number() OVER (
                  PARTITION BY due_at, strikes, urgent, stamp ORDER BY key) - 1)
              / {bucket_keys} AS nth
    FROM put
) AS numbered
GROUP BY due_at, strikes, urgent, stamp, nth
