-- Only tweets that this transaction inserted have its `tracked_at`, and they get a reason.
WITH told AS MATERIALIZED (
    SELECT * FROM unnest(%(ids)s::bigint[], %(reasons)s::text[]) AS told(id, reason)
),
held AS MATERIALIZED (
    SELECT t.*, told.reason FROM told CROSS JOIN LATERAL (
        SELECT id, missing_reason, paid_on FROM trackers_tweet WHERE id = told.id FOR UPDATE
    ) t
),
counted AS ({counted})
UPDATE trackers_tweet t
SET paid_on = %(day)s, paid_by = %(project)s,
    came_from = CASE WHEN t.tracked_at = now() THEN held.reason ELSE t.came_from END
FROM held
WHERE t.id = held.id AND (t.paid_on, t.paid_by) IS DISTINCT FROM (%(day)s::date, %(project)s)
