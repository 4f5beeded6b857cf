-- Of each tweet of a CTE `asked` (id), for each metric: what is expected at the age of its newest
-- measurement, of how many posts, whether those are of its kind, and the score. By posts of its
-- kind; else by the author's of all kinds. A retweet has the original's counts, and no score.
scored AS MATERIALIZED (
    SELECT e.*, {scores}
    FROM (
        SELECT t.id, t.own_kind, t.age, t.retweets, t.replies, t.likes, t.quotes, t.bookmarks, t.views,
               {expected}
        FROM (
            SELECT t.*, x.kind AS own_kind, ({ages})[t.place] AS low, ({ages})[t.place + 1] AS high
            FROM asked CROSS JOIN LATERAL (
                SELECT *, trackers_age_place_v1(age) AS place FROM (
                    SELECT id, author_id,
                           date_part('epoch', measured_until
                                     - coalesce(created_at, trackers_born_at_v1(id))) AS age,
                           retweets, replies, likes, quotes, bookmarks, views
                    FROM trackers_tweet
                    WHERE id = asked.id AND measurements > 0
                      AND gone_at IS NULL AND version_of IS NULL
                    OFFSET 0
                ) aged OFFSET 0
            ) t LEFT JOIN LATERAL (
                SELECT kind, true AS is_described FROM trackers_tweettext
                WHERE tweet_id = t.id LIMIT 1
            ) x ON true
            WHERE t.place > 0 AND (x.kind IS NOT NULL OR x.is_described IS NULL)
            OFFSET 0
        ) t
        -- By the key, whatever the statistics say; of the arrays only what is needed.
        LEFT JOIN LATERAL (
            SELECT expected[:][t.place:t.place + 1] AS at, posts[:][t.place:t.place] AS n
            FROM trackers_benchmark WHERE author_id = t.author_id AND kind = t.own_kind LIMIT 1
        ) own ON true
        LEFT JOIN LATERAL (
            SELECT expected[:][t.place:t.place + 1] AS at, posts[:][t.place:t.place] AS n
            FROM trackers_benchmark WHERE author_id = t.author_id AND kind = 0 LIMIT 1
        ) of_all ON true
        OFFSET 0
    ) e
)
