-- A sample is filed under the month in which it ended, so one that covers a time is in that month or
-- in a later one. LATERAL with a limit: by the key, whatever the statistics say. Not EXISTS, of which
-- the planner forgets the limit, and joins all samples there are. + 0: not by the index of months, of
-- which each has rows of all tweets.
SELECT asked.tweet_id, asked.at
FROM unnest(%(ids)s::bigint[], %(at)s::timestamptz[]) AS asked(tweet_id, at)
CROSS JOIN LATERAL (
    SELECT measurements > 0 AND asked.at BETWEEN taken_at AND measured_until AS covers
    FROM trackers_tweet WHERE id = asked.tweet_id LIMIT 1
) newest
LEFT JOIN LATERAL (
    SELECT true AS covers FROM trackers_sample s
    WHERE s.tweet_id = asked.tweet_id AND asked.at BETWEEN s.taken_at AND s.measured_until
    LIMIT 1
) closed ON true
LEFT JOIN LATERAL (
    SELECT true AS covers FROM trackers_packedsamples p
    CROSS JOIN LATERAL unnest(p.taken_at, p.measured_until) AS run(begun, ended)
    WHERE p.tweet_id = asked.tweet_id
      AND p.month + 0 >= date_trunc('month', asked.at AT TIME ZONE 'UTC')::date
      AND asked.at BETWEEN run.begun AND run.ended
    LIMIT 1
) packed ON true
WHERE newest.covers IS NOT TRUE AND closed.covers IS NULL AND packed.covers IS NULL
