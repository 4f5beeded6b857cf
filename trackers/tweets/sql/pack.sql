-- A sample belongs to the month in which it ended, so that a past month holds nothing younger,
-- however long a sample lasted. The arrays are in the order of time, as later samples are appended;
-- except for belated ones, so readers still sort.
WITH taken AS (
    DELETE FROM {rows}
    WHERE tweet_id > %(after)s AND tweet_id <= %(last)s
      AND measured_until >= {start} AND measured_until < {end}
    RETURNING *
),
arrays AS (
    INSERT INTO trackers_packedsamples AS packed
        (tweet_id, month, taken_at, measured_until, measurements,
         retweets, replies, likes, quotes, bookmarks, views)
    SELECT tweet_id, date_trunc('month', measured_until AT TIME ZONE 'UTC')::date AS month,
           array_agg(taken_at ORDER BY taken_at), array_agg(measured_until ORDER BY taken_at),
           array_agg(measurements ORDER BY taken_at), array_agg(retweets ORDER BY taken_at),
           array_agg(replies ORDER BY taken_at), array_agg(likes ORDER BY taken_at),
           array_agg(quotes ORDER BY taken_at), array_agg(bookmarks ORDER BY taken_at),
           array_agg(views ORDER BY taken_at)
    FROM taken
    GROUP BY tweet_id, month ORDER BY tweet_id, month
    ON CONFLICT (tweet_id, month) DO UPDATE SET
        taken_at = packed.taken_at || excluded.taken_at,
        measured_until = packed.measured_until || excluded.measured_until,
        measurements = packed.measurements || excluded.measurements,
        retweets = packed.retweets || excluded.retweets,
        replies = packed.replies || excluded.replies,
        likes = packed.likes || excluded.likes,
        quotes = packed.quotes || excluded.quotes,
        bookmarks = packed.bookmarks || excluded.bookmarks,
        views = packed.views || excluded.views
)
SELECT count(*) FROM taken
