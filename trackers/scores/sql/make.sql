-- What is usual for some authors, from the checkpoints of their newest posts.
-- At each age the newest posts that had reached it: those younger than the age have no checkpoint, so
-- posts are read below several bounds, the ids of posts that are an hour, a day … old. A post is found
-- by the index of its author, all else by its key.
WITH posts AS MATERIALIZED (
    SELECT DISTINCT t.author_id, t.id
    FROM unnest(%(authors)s::bigint[]) AS a(id)
    CROSS JOIN unnest(%(below)s::bigint[]) AS b(below)
    CROSS JOIN LATERAL (
        SELECT author_id, id FROM trackers_tweet
        WHERE author_id = a.id AND id < b.below
          AND measurements > 0 AND gone_at IS NULL AND version_of IS NULL
        ORDER BY id DESC LIMIT {most_read}
    ) t
),
-- A retweet has a text and no kind.
of_kind AS MATERIALIZED (
    SELECT p.author_id, p.id, x.kind
    FROM posts p LEFT JOIN LATERAL (
        SELECT kind, true AS is_described FROM trackers_tweettext WHERE tweet_id = p.id LIMIT 1
    ) x ON true
    WHERE x.kind IS NOT NULL OR x.is_described IS NULL
),
counts AS MATERIALIZED (
    SELECT p.author_id, p.id, p.kind, c.*
    FROM of_kind p CROSS JOIN LATERAL (
        SELECT of.* FROM (
            SELECT * FROM trackers_packedcheckpoints WHERE tweet_id = p.id LIMIT 1
        ) one CROSS JOIN LATERAL unnest(
            one.ages, one.retweets, one.replies, one.likes, one.quotes, one.bookmarks, one.views
        ) AS of(age, retweets, replies, likes, quotes, bookmarks, views)
        UNION ALL
        SELECT age, retweets, replies, likes, quotes, bookmarks, views
        FROM trackers_checkpoint WHERE tweet_id = p.id
    ) c
),
newest AS (
    SELECT *, row_number() OVER (PARTITION BY author_id, of_kind, age ORDER BY id DESC) AS nth
    FROM (
        SELECT *, kind AS of_kind FROM counts WHERE kind IS NOT NULL
        UNION ALL
        SELECT *, 0 FROM counts
    ) both_kinds
),
ordered AS (
    SELECT author_id, of_kind, age, {ordered}
    FROM newest WHERE nth <= {most_posts}
    GROUP BY author_id, of_kind, age
),
at_ages AS (
    SELECT author_id, of_kind, age, {counted},
           -- What is usual never falls with age; where it is unknown it stays so.
           {risen}
    FROM (SELECT author_id, of_kind, age, {counted_and_mean} FROM ordered OFFSET 0) means
    WINDOW by_age AS (PARTITION BY author_id, of_kind ORDER BY age)
),
made AS (
    SELECT pair.author_id, pair.of_kind,
           ARRAY[{expected_arrays}]::real[] AS expected, ARRAY[{posts_arrays}]::smallint[] AS posts
    FROM (SELECT DISTINCT author_id, of_kind FROM at_ages) pair
    CROSS JOIN generate_series(1, {ages}) AS every(age)
    LEFT JOIN at_ages USING (author_id, of_kind, age)
    GROUP BY pair.author_id, pair.of_kind
    -- Of a kind with too few posts the author's of all kinds are asked for.
    HAVING pair.of_kind = 0 OR {is_enough}
),
-- Of kinds that fell below that, and of authors that have nothing left.
fewer AS (
    DELETE FROM trackers_benchmark b WHERE author_id = ANY(%(authors)s::bigint[])
      AND NOT EXISTS (
          SELECT FROM made WHERE made.author_id = b.author_id AND made.of_kind = b.kind)
),
-- Only one process makes benchmarks at a time.
stored AS (
    INSERT INTO trackers_benchmark (author_id, kind, made_at, expected, posts)
    SELECT author_id, of_kind, %(now)s, expected, posts FROM made
    ON CONFLICT (author_id, kind) DO UPDATE SET
        made_at = excluded.made_at, expected = excluded.expected, posts = excluded.posts
)
UPDATE trackers_benchmarkauthor SET made_at = %(now)s, due_at = NULL
WHERE author_id = ANY(%(authors)s::bigint[])
