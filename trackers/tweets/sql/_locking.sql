-- Up to PostgreSQL 17: each row is locked and read, then written.
-- LATERAL and = ANY(ARRAY) rule out hash and merge joins: rows are found one by one by their key,
-- in the given order, whatever the statistics say.
recorded AS MATERIALIZED (
    SELECT t.id, m.at, t.created_at, t.taken_at, t.measured_until, t.measurements,
           t.retweets, t.replies, t.likes, t.quotes, t.bookmarks, t.views,
           m.rt, m.re, m.li, m.qu, m.bo, m.vi, m.paid_on, m.paid_by,
           t.measurements > 0 AND m.at < t.measured_until AND NOT {in_future} AS belated,
           compared.changed, compared.changed OR compared.hole AS begins,
           (compared.changed OR compared.hole) AND t.measurements > 0 AS ended,
           t.gone_at, t.tracked_at, t.missing_reason, t.paid_on AS paid_before, {pace} AS pace,
           {to_rank} AS to_rank, {crosses} AS crosses
           {earlier}
    FROM measured m CROSS JOIN LATERAL (
        SELECT * FROM trackers_tweet WHERE id = m.tweet_id FOR UPDATE
    ) t CROSS JOIN LATERAL (
        SELECT t.measurements = 0
               OR (t.retweets, t.replies, t.likes, t.quotes, t.bookmarks, t.views)
                  IS DISTINCT FROM (m.rt, m.re, m.li, m.qu, m.bo, m.vi) AS changed,
               (m.at BETWEEN t.measured_until AND t.measured_until + {hole}) IS NOT TRUE AS hole
    ) compared
),
newest AS (
    UPDATE trackers_tweet t
    SET taken_at = CASE WHEN m.begins THEN m.at ELSE m.taken_at END, measured_until = m.at,
        measurements = CASE WHEN m.begins THEN 1 ELSE m.measurements + 1 END,
        pace = m.pace,
        {shown}, {counted_and_paid}
    FROM recorded m
    WHERE t.id = ANY(ARRAY[m.id]) AND NOT m.belated
)
