-- Of each subscriber: its head, if it is ordered and what it contains was refused too often, and how
-- many batches are set aside. A few rows of the index of its line for each.
SELECT s.id, s.name, head.uid, head.last_error, aside.n, coalesce(aside.last_error, '')
FROM trackers_subscriber s
LEFT JOIN LATERAL (
    SELECT uid, last_error, refusals FROM trackers_eventbatch
    WHERE subscriber_id = s.id AND place >= 0 AND kind = 'events' AND s.ordered
    ORDER BY place, id LIMIT 1
) head ON head.refusals >= %(aside_at)s
CROSS JOIN LATERAL (
    SELECT count(*) AS n, (array_agg(last_error ORDER BY place DESC, id))[1] AS last_error
    FROM (
        SELECT place, id, last_error FROM trackers_eventbatch
        WHERE subscriber_id = s.id AND place < 0
        ORDER BY place DESC, id LIMIT %(most)s
    ) first
) aside
WHERE s.removed_at IS NULL
ORDER BY s.id
