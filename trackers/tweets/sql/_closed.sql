-- The samples that ended. A measurement from before the end of the newest sample (one that took
-- long to arrive) is kept as a closed sample of its own.
closed AS (
    INSERT INTO trackers_sample (tweet_id, taken_at, measured_until, measurements,
                                 retweets, replies, likes, quotes, bookmarks, views)
    SELECT id, taken_at, measured_until, measurements,
           retweets, replies, likes, quotes, bookmarks, views
    FROM recorded WHERE ended AND NOT belated
    UNION ALL
    SELECT id, at, at, 1, rt, re, li, qu, bo, vi FROM recorded WHERE belated
),
-- For the lists of what grows fastest (trackers.tweets.gains): the tweets that may belong in one
-- now. One row of a table without WAL.
noted AS (
    INSERT INTO trackers_changed (ids)
    SELECT array_agg(id) FROM recorded WHERE to_rank AND changed AND NOT belated
    HAVING count(*) > 0
),
{checkpoints},
-- What X said of them changes at the first look-up, and when it shows a missing one again.
presence AS ({counted}),
-- A gone one that is shown again belongs to its sets again.
shown_again AS ({uncounted})
