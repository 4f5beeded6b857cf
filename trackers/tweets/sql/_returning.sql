-- From PostgreSQL 18 on: a row can be returned as it was before (`old`), so the UPDATE itself is
-- the lock.
newest AS (
    UPDATE trackers_tweet t
    SET taken_at = CASE WHEN {goes_on} THEN t.taken_at ELSE m.at END, measured_until = m.at,
        measurements = CASE WHEN {goes_on} THEN t.measurements + 1 ELSE 1 END,
        pace = {pace},
        {shown_and_paid}
    FROM measured m
    WHERE t.id = ANY(ARRAY[m.tweet_id])
      AND (t.measurements = 0 OR m.at >= t.measured_until)
    RETURNING t.id, m.at, old.created_at, old.taken_at, old.measured_until, old.measurements,
        old.retweets, old.replies, old.likes, old.quotes, old.bookmarks, old.views,
        m.rt, m.re, m.li, m.qu, m.bo, m.vi, false AS belated,
        old.measurements = 0
        OR (old.retweets, old.replies, old.likes, old.quotes, old.bookmarks, old.views)
           IS DISTINCT FROM (m.rt, m.re, m.li, m.qu, m.bo, m.vi) AS changed,
        new.measurements = 1 AND old.measurements > 0 AS ended, old.gone_at, old.tracked_at,
        new.pace
),
-- {late_lock}: tweets that were not updated must not be deleted meanwhile.
recorded AS MATERIALIZED (
    SELECT * FROM newest
    UNION ALL
    SELECT t.id, m.at, t.created_at, t.taken_at, t.measured_until, t.measurements,
           t.retweets, t.replies, t.likes, t.quotes, t.bookmarks, t.views,
           m.rt, m.re, m.li, m.qu, m.bo, m.vi, true, false, false,
           t.gone_at, t.tracked_at, t.pace
    FROM measured m CROSS JOIN LATERAL (
        SELECT * FROM trackers_tweet WHERE id = m.tweet_id {late_lock}
    ) t
    WHERE (SELECT count(*) FROM newest) < (SELECT count(*) FROM measured)
      AND (m.tweet_id IN (SELECT id FROM newest)) IS NOT TRUE
)
