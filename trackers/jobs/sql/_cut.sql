-- Every statement that ends a claim, or part of one, begins with this. The fence: the buckets that
-- still carry this lease, and of their keys those that were asked for (`back`) and have not been
-- moved or removed since.
-- Locks: the buckets, then jobs in the order of keys. In the plan's own order, this and a check
-- of the same keys could deadlock.
held AS MATERIALIZED (
    SELECT ctid AS place, due_at, lease, strikes, urgent, due_since, stamp, keys
    FROM {bucket} WHERE lease = %(lease)s ORDER BY id FOR UPDATE
),
cut AS MATERIALIZED (
    SELECT held.*, of.back, of.stay
    FROM held CROSS JOIN LATERAL (
        SELECT array_agg(key) FILTER (WHERE asked) AS back,
               array_agg(key) FILTER (WHERE NOT asked) AS stay
        FROM (
            SELECT key, (key IN (SELECT unnest(%(keys)s::bigint[]))) IS TRUE AS asked
            FROM unnest(held.keys) AS key
        ) AS entry
    ) AS of
    WHERE of.back IS NOT NULL
),
-- A bucket's other keys stay claimed.
stay AS (
    UPDATE {bucket} b SET keys = cut.stay
    FROM cut
    WHERE b.ctid = ANY(ARRAY(SELECT place FROM cut WHERE cut.stay IS NOT NULL))
      AND b.ctid = cut.place
),
-- LATERAL: each by the primary key, whatever the statistics say.
ours AS MATERIALIZED (
    SELECT job.*
    FROM (
        SELECT key FROM cut, unnest(back) AS key ORDER BY key
    ) AS entry
    CROSS JOIN LATERAL (
        SELECT ctid AS place, key, stamp FROM {job}
        WHERE key = entry.key AND stamp = ANY(ARRAY(SELECT stamp FROM cut)) FOR UPDATE
    ) AS job
)
