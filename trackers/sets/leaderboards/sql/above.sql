-- Of each set's newest posts of the period that have a score of their views: how many are at least
-- twice what is usual. By keys, whatever the statistics say.
SELECT of.key, count(*), count(*) FILTER (WHERE s.views >= {stands_out})
FROM unnest(%(keys)s::text[]) AS of(key) CROSS JOIN LATERAL ({newest}) t
CROSS JOIN LATERAL (
    SELECT views FROM trackers_score WHERE tweet_id = t.id AND views IS NOT NULL LIMIT 1
) s GROUP BY 1
