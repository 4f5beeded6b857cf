-- Scores that rose past what a rule asks for, the highest of each rule. A tweet, its author and its
-- sources are found by key: LATERAL with LIMIT, whatever the statistics say.
WITH rule AS MATERIALIZED (
    SELECT * FROM unnest(
        %(rules)s::bigint[], %(metrics)s::text[], %(times)s::float8[], %(abouts)s::text[],
        %(ofs)s::bigint[], %(mosts)s::int[]
    ) AS r(rule_id, metric, times, about, of, most)
),
asked AS MATERIALIZED (
    SELECT metric, array_agg(DISTINCT times) AS times FROM rule GROUP BY metric
),
risen AS MATERIALIZED (
    SELECT tweet_id, metric, was, score FROM (
        SELECT tweet_id, metric, min(was) AS was, max(score) AS score
        FROM trackers_scorerise WHERE id <= %(reached)s GROUP BY tweet_id, metric
    ) of_tweet JOIN asked USING (metric)
    WHERE EXISTS (SELECT FROM unnest(asked.times) AS n WHERE was < n AND score >= n)
),
tweet AS MATERIALIZED (
    SELECT t.* FROM (SELECT DISTINCT tweet_id AS id FROM risen) f CROSS JOIN LATERAL (
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
    SELECT rule_id, tweet_id, author_id, score FROM rule
    JOIN risen USING (metric) JOIN tweet ON tweet.id = tweet_id
    WHERE was < times AND score >= times AND CASE about
        WHEN 'any' THEN true
        WHEN 'author' THEN author_id = of
        WHEN 'source' THEN EXISTS (
            SELECT FROM brought WHERE brought.id = tweet.id AND source_id = of)
    END
)
SELECT rule_id, tweet_id, author_id FROM (
    SELECT *, row_number() OVER (
        PARTITION BY rule_id ORDER BY score DESC, tweet_id DESC) AS place
    FROM found
) placed JOIN rule USING (rule_id) WHERE place <= most ORDER BY rule_id, place
