-- Tweets tracked between two times that still have a next look-up: those that a forecast can expect,
-- as `population` counts them (posts made after their source was first read; one without a source,
-- as of a program, after the first of these), and those that first polls and backfills brought. What
-- files brought is neither.
-- {counted}: the look-ups that are read, each with the number that it stands for.
WITH {counted},
-- LATERAL with a LIMIT: each tweet is found by its primary key, whatever the statistics say.
tracked AS MATERIALIZED (
    SELECT c.key AS id, c.weight, to_timestamp({born_ms} / 1000) AS born, t.tracked_at
    FROM counted c CROSS JOIN LATERAL (
        SELECT * FROM trackers_tweet WHERE id = c.key LIMIT 1
    ) t
    WHERE t.tracked_at >= %(since)s AND t.tracked_at < %(until)s
),
of_sources AS MATERIALIZED (
    SELECT tracked.*, origin.*
    FROM tracked CROSS JOIN LATERAL (
        SELECT count(*) > 0 AS has_source, coalesce(bool_or(source.is_file), false) AS is_of_file,
               min(source.begun) AS begun
        FROM (
            SELECT source_id FROM trackers_sourcetweet WHERE tweet_id = tracked.id LIMIT 20
        ) AS pair
        CROSS JOIN LATERAL (
            SELECT kind = 'import' AS is_file,
                   CASE WHEN kind <> 'import' THEN coalesce(first_read_at, created_at) END AS begun
            FROM trackers_source WHERE id = pair.source_id LIMIT 1
        ) AS source
    ) AS origin
),
came AS (
    SELECT weight, is_of_file,
           coalesce(born > CASE WHEN has_source THEN begun ELSE first_at END, false) AS is_new
    FROM of_sources CROSS JOIN (
        SELECT min(tracked_at) FILTER (WHERE NOT has_source) AS first_at FROM of_sources
    ) AS first
)
SELECT coalesce(sum(weight) FILTER (WHERE is_new), 0),
       coalesce(sum(weight) FILTER (WHERE NOT is_new AND NOT is_of_file), 0)
FROM came
