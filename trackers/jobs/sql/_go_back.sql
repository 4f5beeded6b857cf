-- Buckets go back as a whole, and a new one for a part, due at {due}. They are owed for as long as
-- before ({owed}), unless they are due again.
whole AS (
    UPDATE {bucket} b SET due_at = cut.due, lease = NULL, owed_since = {owed}
    FROM (SELECT *, {due} AS due FROM cut WHERE stay IS NULL) cut
    WHERE b.ctid = ANY(ARRAY(SELECT place FROM cut WHERE stay IS NULL)) AND b.ctid = cut.place
),
part AS (
    INSERT INTO {bucket} (due_at, strikes, urgent, owed_since, stamp, keys)
    SELECT {due}, strikes, urgent, {owed}, stamp, back FROM cut WHERE stay IS NOT NULL
)
