-- Buckets go back as a whole, and a new one for a part, due at {due}. They count as due
-- since when they did before ({due_since}), unless they are due again.
whole AS (
    UPDATE {bucket} b SET due_at = cut.due, lease = NULL, due_since = {due_since}
    FROM (SELECT *, {due} AS due FROM cut WHERE stay IS NULL) cut
    WHERE b.ctid = ANY(ARRAY(SELECT place FROM cut WHERE stay IS NULL)) AND b.ctid = cut.place
),
part AS (
    INSERT INTO {bucket} (due_at, strikes, urgent, due_since, stamp, keys)
    SELECT {due}, strikes, urgent, {due_since}, stamp, back FROM cut WHERE stay IS NOT NULL
)
