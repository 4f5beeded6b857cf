-- The checkpoints of the tweets between two ids, those of past days and those since. One that crossed
-- an age twice, as a clock was ahead, has the lower views.
SELECT DISTINCT ON (tweet_id, age) tweet_id, age, {metrics}
FROM (
    SELECT p.tweet_id, of.*
    FROM trackers_packedcheckpoints p
    CROSS JOIN LATERAL unnest(p.ages, {arrays}) AS of(age, {metrics})
    WHERE p.tweet_id > %(after)s AND p.tweet_id <= %(last)s
    UNION ALL
    SELECT tweet_id, age, {metrics} FROM trackers_checkpoint
    WHERE tweet_id > %(after)s AND tweet_id <= %(last)s
) both_of
ORDER BY tweet_id, age, views
