-- From PostgreSQL 18 on: a row can be returned as it was before (`old`), so that writing it is the
-- lock.
-- The insert never happens, since a measurement writes no tweet that is not tracked. It makes this
-- an outer join, which can only be read measurement by measurement, in their order. An UPDATE FROM
-- of a few tweets would be joined the other way round, and lock them as they lie in the table.
recorded AS (
    MERGE INTO trackers_tweet t USING measured m ON t.id = ANY(ARRAY[m.tweet_id])
    WHEN MATCHED AND (
        t.measurements = 0 OR m.at >= t.measured_until OR {in_future}) THEN UPDATE
    SET taken_at = CASE WHEN {goes_on} THEN t.taken_at ELSE m.at END, measured_until = m.at,
        measurements = CASE WHEN {goes_on} THEN t.measurements + 1 ELSE 1 END,
        pace = {pace},
        {shown}, {counted_and_paid}
    -- A belated one leaves the tweet as it is, but locks it, so that it is not deleted meanwhile.
    WHEN MATCHED THEN UPDATE SET measured_until = t.measured_until
    WHEN NOT MATCHED AND false THEN INSERT (id) VALUES (m.tweet_id)
    RETURNING t.id, m.at, old.created_at, old.taken_at, old.measured_until, old.measurements,
        old.retweets, old.replies, old.likes, old.quotes, old.bookmarks, old.views,
        m.rt, m.re, m.li, m.qu, m.bo, m.vi,
        old.measurements > 0 AND m.at < old.measured_until AND NOT {was_in_future} AS belated,
        old.measurements = 0
        OR (old.retweets, old.replies, old.likes, old.quotes, old.bookmarks, old.views)
           IS DISTINCT FROM (m.rt, m.re, m.li, m.qu, m.bo, m.vi) AS changed,
        new.measurements = 1 AND old.measurements > 0 AS ended, old.gone_at, old.tracked_at,
        old.missing_reason, old.paid_on AS paid_before, m.paid_on, new.pace,
        {to_rank} AS to_rank, {crosses} AS crosses
        {earlier}
)
