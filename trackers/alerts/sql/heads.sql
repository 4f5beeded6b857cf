-- Which tweets were fast enough at which look at a list, in the order of time; and whether that head
-- ended with a tweet that was, too, so that others may be missing.
SELECT h.at, t.id, t.velocity,
       cardinality(h.ids) >= %(head)s AND h.velocities[cardinality(h.ids)] >= %(at)s
FROM trackers_gainhead h CROSS JOIN LATERAL unnest(h.ids, h.velocities) AS t(id, velocity)
WHERE h.minutes = %(minutes)s AND h.metric = %(metric)s AND h.at >= %(since)s
  AND t.velocity >= %(at)s
ORDER BY h.at
