-- Counted before the password is checked, or simultaneous guesses would all be checked. The row's
-- lock makes the second one wait for the first one's count. A bucket that has to wait returns no
-- row. In the order of buckets, to avoid deadlocks.
INSERT INTO trackers_wronglogin AS w (bucket, failures, last_at, account)
SELECT bucket, 1, %(now)s, %(account)s
FROM unnest(%(buckets)s::int[]) t(bucket) ORDER BY bucket
ON CONFLICT (bucket) DO UPDATE SET
    failures = CASE WHEN w.last_at < %(forgotten)s THEN 1
                    ELSE least(w.failures + 1, %(most)s) END,
    last_at = excluded.last_at, account = excluded.account
WHERE w.last_at < %(forgotten)s
   OR w.failures < (%(free)s::int[])[w.bucket / %(size)s + 1]
   OR w.last_at + least(
        interval '1 second'
        * 2 ^ least(w.failures - (%(free)s::int[])[w.bucket / %(size)s + 1], 20),
        (%(longest)s::interval[])[w.bucket / %(size)s + 1]) <= %(now)s
RETURNING bucket
