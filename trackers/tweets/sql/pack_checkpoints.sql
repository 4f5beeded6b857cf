-- One row a tweet, whose arrays are only ever appended to: readers sort.
WITH taken AS (
    DELETE FROM {rows}
    WHERE tweet_id > %(after)s AND tweet_id <= %(last)s
      AND crossed_at >= {start} AND crossed_at < {end}
    RETURNING *
),
arrays AS (
    INSERT INTO trackers_packedcheckpoints AS packed
        (tweet_id, ages, retweets, replies, likes, quotes, bookmarks, views)
    SELECT tweet_id, array_agg(age ORDER BY age), array_agg(retweets ORDER BY age),
           array_agg(replies ORDER BY age), array_agg(likes ORDER BY age),
           array_agg(quotes ORDER BY age), array_agg(bookmarks ORDER BY age),
           array_agg(views ORDER BY age)
    FROM taken
    GROUP BY tweet_id ORDER BY tweet_id
    ON CONFLICT (tweet_id) DO UPDATE SET
        ages = packed.ages || excluded.ages,
        retweets = packed.retweets || excluded.retweets,
        replies = packed.replies || excluded.replies,
        likes = packed.likes || excluded.likes,
        quotes = packed.quotes || excluded.quotes,
        bookmarks = packed.bookmarks || excluded.bookmarks,
        views = packed.views || excluded.views
)
SELECT count(*) FROM taken
