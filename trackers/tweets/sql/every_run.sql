-- All samples of all tweets, a row each; a condition on tweet_id is pushed down into each branch.
SELECT tweet_id, taken_at, measured_until, measurements,
       retweets, replies, likes, quotes, bookmarks, views
FROM trackers_sample
UNION ALL
SELECT p.tweet_id, run.taken_at, run.measured_until, run.measurements,
       run.retweets, run.replies, run.likes, run.quotes, run.bookmarks, run.views
FROM trackers_packedsamples p
CROSS JOIN LATERAL unnest(p.taken_at, p.measured_until, p.measurements, p.retweets,
                          p.replies, p.likes, p.quotes, p.bookmarks, p.views)
    AS run(taken_at, measured_until, measurements, retweets, replies, likes, quotes, bookmarks,
           views)
UNION ALL
SELECT id, taken_at, measured_until, measurements,
       retweets, replies, likes, quotes, bookmarks, views
FROM trackers_tweet WHERE measurements > 0
