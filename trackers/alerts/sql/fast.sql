-- Each list is read from the front of its index, and tweets, authors and sources are found one by
-- one by key: LATERAL with LIMIT, whatever the statistics say.
WITH rule AS MATERIALIZED (
    SELECT * FROM unnest(
        %(rules)s::bigint[], %(minutes)s::int[], %(metrics)s::text[], %(ats)s::bigint[],
        %(abouts)s::text[], %(ofs)s::bigint[], %(mosts)s::int[]
    ) AS r(rule_id, minutes, metric, at, about, of, most)
),
list AS MATERIALIZED (
    SELECT minutes, metric, min(at) AS at FROM rule WHERE about <> 'tweet'
    GROUP BY minutes, metric
),
fast AS MATERIALIZED (
    SELECT m.* FROM list CROSS JOIN LATERAL (
        SELECT tweet_id, minutes, metric, gain, velocity, since, until FROM trackers_gain
        WHERE minutes = list.minutes AND metric = list.metric AND velocity >= list.at
        ORDER BY velocity DESC, tweet_id DESC LIMIT %(list_most)s
    ) m
),
tweet AS MATERIALIZED (
    SELECT t.* FROM (SELECT DISTINCT tweet_id AS id FROM fast) f CROSS JOIN LATERAL (
        SELECT id, author_id FROM trackers_tweet
        WHERE id = f.id AND gone_at IS NULL LIMIT 1
    ) t
),
brought AS MATERIALIZED (
    SELECT tweet.id, s.source_id FROM tweet CROSS JOIN LATERAL (
        SELECT source_id FROM trackers_sourcetweet
        WHERE tweet_id = tweet.id LIMIT %(sources_most)s
    ) s WHERE EXISTS (SELECT FROM rule WHERE about = 'source')
),
found AS (
    SELECT rule_id, fast.*, author_id FROM rule
    JOIN fast USING (minutes, metric) JOIN tweet ON tweet.id = tweet_id
    WHERE about = 'any' AND velocity >= rule.at
    UNION ALL
    SELECT rule_id, fast.*, author_id FROM rule
    JOIN tweet ON tweet.author_id = of
    JOIN fast ON (fast.tweet_id, fast.minutes, fast.metric)
               = (tweet.id, rule.minutes, rule.metric)
    WHERE about = 'author' AND velocity >= rule.at
    UNION ALL
    SELECT rule_id, fast.*, author_id FROM rule
    JOIN brought ON brought.source_id = of JOIN tweet ON tweet.id = brought.id
    JOIN fast ON (fast.tweet_id, fast.minutes, fast.metric)
               = (tweet.id, rule.minutes, rule.metric)
    WHERE about = 'source' AND velocity >= rule.at
    UNION ALL
    SELECT rule_id, m.*, t.author_id FROM rule CROSS JOIN LATERAL (
        SELECT tweet_id, minutes, metric, gain, velocity, since, until FROM trackers_gain
        WHERE tweet_id = rule.of AND minutes = rule.minutes AND metric = rule.metric LIMIT 1
    ) m CROSS JOIN LATERAL (
        SELECT author_id FROM trackers_tweet
        WHERE id = rule.of AND gone_at IS NULL LIMIT 1
    ) t
    WHERE about = 'tweet' AND velocity >= rule.at
)
SELECT rule_id, tweet_id, author_id, placed.metric, gain, velocity, since, until FROM (
    SELECT *, row_number() OVER (
        PARTITION BY rule_id ORDER BY velocity DESC, tweet_id DESC) AS place
    FROM found
) placed JOIN rule USING (rule_id) WHERE place <= most ORDER BY rule_id, place
