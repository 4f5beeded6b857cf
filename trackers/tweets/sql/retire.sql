-- Lock: packing's, which writes the same rows in another order (see `retire`).
WITH
-- Uses the index on month. Rows are locked before they are deleted, and passed as an array: for a
-- join the planner would read the whole table. The limit is a literal: with a parameter the planner
-- would have to expect any number of rows.
old AS (
    DELETE FROM trackers_packedsamples WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM trackers_packedsamples
        WHERE month < %(before)s ORDER BY month LIMIT 5000
        FOR UPDATE SKIP LOCKED))
    RETURNING *
),
-- Samples were once filed by the month in which they began. Those of an old row that ended later
-- move to the month of their end, before what is there, which is younger.
young AS (
    INSERT INTO trackers_packedsamples AS packed
        (tweet_id, month, taken_at, measured_until, measurements,
         retweets, replies, likes, quotes, bookmarks, impressions)
    SELECT old.tweet_id, date_trunc('month', run.ended AT TIME ZONE 'UTC')::date AS ended_in,
           array_agg(run.began ORDER BY began), array_agg(run.ended ORDER BY began),
           array_agg(run.looks ORDER BY began), array_agg(run.retweets ORDER BY began),
           array_agg(run.replies ORDER BY began), array_agg(run.likes ORDER BY began),
           array_agg(run.quotes ORDER BY began), array_agg(run.bookmarks ORDER BY began),
           array_agg(run.impressions ORDER BY began)
    FROM old
    CROSS JOIN LATERAL unnest(
        old.taken_at, old.measured_until, old.measurements, old.retweets, old.replies,
        old.likes, old.quotes, old.bookmarks, old.impressions
    ) AS run(began, ended, looks, retweets, replies, likes, quotes, bookmarks, impressions)
    WHERE %(since)s <= ANY(old.measured_until) AND run.ended >= %(since)s
    GROUP BY old.tweet_id, ended_in ORDER BY old.tweet_id, ended_in
    ON CONFLICT (tweet_id, month) DO UPDATE SET
        taken_at = excluded.taken_at || packed.taken_at,
        measured_until = excluded.measured_until || packed.measured_until,
        measurements = excluded.measurements || packed.measurements,
        retweets = excluded.retweets || packed.retweets,
        replies = excluded.replies || packed.replies,
        likes = excluded.likes || packed.likes,
        quotes = excluded.quotes || packed.quotes,
        bookmarks = excluded.bookmarks || packed.bookmarks,
        impressions = excluded.impressions || packed.impressions
)
SELECT count(*) FROM old
