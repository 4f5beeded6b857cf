-- Entries of buckets whose keys were moved or removed; with %(mend)s they go.
WITH piece AS MATERIALIZED (
    SELECT ctid AS place, id, stamp, keys FROM {bucket}
    WHERE id > %(after)s AND id <= %(until)s ORDER BY id LIMIT %(size)s
),
looked AS MATERIALIZED (
    SELECT piece.*, of.keys AS live
    FROM piece CROSS JOIN LATERAL (
        SELECT array_agg(j.key ORDER BY j.key) AS keys
        FROM {job} j WHERE j.key = ANY(piece.keys) AND j.stamp = piece.stamp
    ) AS of
),
-- Claimed buckets are left alone: the claim has removed their dead entries.
free AS MATERIALIZED (
    SELECT ctid AS place FROM {bucket}
    WHERE %(mend)s AND lease IS NULL AND ctid = ANY(ARRAY(
        SELECT place FROM looked
        WHERE coalesce(cardinality(live), 0) < cardinality(keys)))
    FOR UPDATE SKIP LOCKED
),
emptied AS (
    DELETE FROM {bucket} WHERE ctid = ANY(ARRAY(
        SELECT place FROM free JOIN looked USING (place) WHERE live IS NULL))
),
pruned AS (
    UPDATE {bucket} b SET keys = looked.live FROM looked
    WHERE b.ctid = ANY(ARRAY(
            SELECT place FROM free JOIN looked USING (place) WHERE live IS NOT NULL))
      AND b.ctid = looked.place
)
SELECT max(id), count(*),
       coalesce(sum(cardinality(keys) - coalesce(cardinality(live), 0)), 0)::bigint, 0
FROM looked
