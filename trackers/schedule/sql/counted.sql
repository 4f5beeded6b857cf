-- Ids carry their time, so one scan of the narrow queue gives the tiers, without the tweets. Counters
-- would be cheaper still, but they show what was done, not what the plan needs after a person
-- changed it, or after a file of tweets came in during an outage.
-- {few}: a LIMIT, or nothing. ORDER BY: rare states are found by their small indexes, whatever the
-- statistics say.
SELECT now(),
    (SELECT count(*) FROM (
        SELECT FROM trackers_tweet WHERE gone_at IS NOT NULL ORDER BY id {few}) AS gone),
    (SELECT count(*) FROM (
        SELECT FROM trackers_tweet WHERE paused ORDER BY id {few}) AS paused),
    (SELECT count(*) FROM (
        SELECT FROM trackers_tweet WHERE unreadable_since IS NOT NULL ORDER BY id {few})
        AS unreadable),
    (SELECT array_agg(ARRAY[tier::bigint, many]) FROM (
        SELECT width_bucket(key, %(bounds)s::bigint[]) AS tier, count(*) AS many
        FROM (SELECT key FROM trackers_tweetupdate {few}) AS scheduled GROUP BY 1) AS tiers),
    (SELECT reltuples::bigint FROM pg_class WHERE oid = 'trackers_tweet'::regclass),
    (SELECT array_agg(ARRAY[age::bigint, many]) FROM (
        SELECT width_bucket(id, %(ages)s::bigint[]) AS age, count(*) AS many
        FROM (SELECT id FROM trackers_tweet {few}) AS tracked GROUP BY 1) AS ages)
