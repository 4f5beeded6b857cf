-- Looks at the deliveries that have been due longest: an origin keeps its place in line until all
-- is delivered. By the index on buckets, since jobs have none on time; isolated jobs are in no
-- bucket. The oldest undelivered arrival is the next one behind the mark.
SELECT coalesce(max(extract(epoch FROM now() - next.came_at)), 0)::float8, count(*)
FROM (
    SELECT live.key
    FROM (SELECT stamp, keys FROM trackers_deliverybucket
          ORDER BY due_at, id LIMIT {max_counted}) bucket
    CROSS JOIN LATERAL unnest(bucket.keys) AS entry(key)
    CROSS JOIN LATERAL (
        SELECT key FROM trackers_timelinedelivery
        WHERE key = entry.key AND stamp = bucket.stamp LIMIT 1) live
    UNION ALL
    (SELECT key FROM trackers_timelinedelivery
     WHERE strikes >= {max_strikes} LIMIT {max_counted})
    LIMIT {max_counted}
) job
LEFT JOIN LATERAL (
    SELECT number FROM trackers_deliverymark WHERE origin_id = job.key LIMIT 1) mark ON true
CROSS JOIN LATERAL (
    SELECT came_at FROM trackers_arrival
    WHERE origin_id = job.key AND number > coalesce(mark.number, 0)
    ORDER BY number LIMIT 1) next
