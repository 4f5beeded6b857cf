-- What one piece takes of the tweets that changed makes their quarters due. One that was counted
-- before waits by the number of its posts: from when it was counted, unless the clock of the machine
-- that did was ahead.
WITH taken AS (
    DELETE FROM trackers_uncounted WHERE id = ANY(ARRAY(
        SELECT id FROM trackers_uncounted WHERE id > %(present)s ORDER BY id LIMIT %(most)s))
    RETURNING ids
),
quarters AS (
    SELECT DISTINCT trackers_quarter_v1(id) AS quarter
    FROM taken CROSS JOIN unnest(ids) AS id WHERE id >= %(since)s
),
-- Only one process writes these at a time.
due AS (
    INSERT INTO trackers_rollupquarter AS q (quarter, due_at)
    SELECT quarter, %(now)s FROM quarters ORDER BY quarter
    ON CONFLICT (quarter) DO UPDATE
    SET due_at = greatest(%(now)s, least(q.counted_at, %(now)s) + least(
        q.posts * %(wait)s::interval, %(longest)s))
    WHERE q.due_at IS NULL
)
SELECT count(*) FROM taken
