-- The rollups of some quarters of an hour (`first` and `beyond` are ids), from the tweets posted in
-- them. All is read by ranges of ids, and joined by hashing or merging: the caller forbids nested
-- loops, since the planner knows nothing of how many rows a range has.
WITH asked AS MATERIALIZED (
    SELECT * FROM unnest(%(quarters)s::int[], %(first)s::bigint[], %(beyond)s::bigint[])
        AS asked(quarter, first, beyond)
),
texts AS MATERIALIZED (
    SELECT x.* FROM asked CROSS JOIN LATERAL (
        SELECT tweet_id, lang, kind, hashtags, domains, true AS is_described
        FROM trackers_tweettext WHERE tweet_id >= first AND tweet_id < beyond OFFSET 0
    ) x
),
-- A retweet has a text and no kind.
posts AS MATERIALIZED (
    SELECT t.*, x.lang, x.hashtags, x.domains
    FROM (
        SELECT asked.quarter, t.* FROM asked CROSS JOIN LATERAL (
            SELECT id, author_id FROM trackers_tweet
            WHERE id >= first AND id < beyond AND gone_at IS NULL AND version_of IS NULL OFFSET 0
        ) t
    ) t LEFT JOIN texts x ON x.tweet_id = t.id
    WHERE x.kind IS NOT NULL OR x.is_described IS NULL
),
-- As in of_tweets.sql of checkpoints.
at_ages AS MATERIALIZED (
    SELECT DISTINCT ON (tweet_id, age)
           tweet_id, age, retweets, replies, likes, quotes, bookmarks, views
    FROM (
        SELECT p.tweet_id, of.*
        FROM asked CROSS JOIN LATERAL (
            SELECT * FROM trackers_packedcheckpoints
            WHERE tweet_id >= first AND tweet_id < beyond OFFSET 0
        ) p CROSS JOIN LATERAL unnest(
            p.ages, p.retweets, p.replies, p.likes, p.quotes, p.bookmarks, p.views
        ) AS of(age, retweets, replies, likes, quotes, bookmarks, views)
        UNION ALL
        SELECT c.* FROM asked CROSS JOIN LATERAL (
            SELECT tweet_id, age, retweets, replies, likes, quotes, bookmarks, views
            FROM trackers_checkpoint WHERE tweet_id >= first AND tweet_id < beyond OFFSET 0
        ) c
    ) both_of
    WHERE age = ANY({ages})
    ORDER BY tweet_id, age, views
),
figures AS MATERIALIZED (
    SELECT tweet_id AS id, {of_tweet} FROM at_ages GROUP BY tweet_id
),
sets AS MATERIALIZED (
    SELECT p.id, p.quarter, of.kind, of.key FROM posts p CROSS JOIN LATERAL (VALUES
        ({all}, 'all'), ({author}, p.author_id::text), ({language}, p.lang)
    ) AS of(kind, key)
    WHERE of.key <> ''
    UNION ALL
    SELECT DISTINCT p.id, p.quarter, {hashtag}, key FROM posts p CROSS JOIN unnest(p.hashtags) AS key
    UNION ALL
    SELECT DISTINCT p.id, p.quarter, {domain}, key FROM posts p CROSS JOIN unnest(p.domains) AS key
    UNION ALL
    SELECT p.id, p.quarter, {source}, s.source_id::text
    FROM asked CROSS JOIN LATERAL (
        SELECT source_id, tweet_id FROM trackers_sourcetweet
        WHERE tweet_id >= first AND tweet_id < beyond OFFSET 0
    ) s JOIN posts p ON p.id = s.tweet_id
    UNION ALL
    SELECT p.id, p.quarter, {tag}, g.tag_id::text
    FROM asked CROSS JOIN LATERAL (
        SELECT tag_id, tweet_id FROM trackers_tweettag
        WHERE tweet_id >= first AND tweet_id < beyond OFFSET 0
    ) g JOIN posts p ON p.id = g.tweet_id
),
sums AS MATERIALIZED (
    SELECT kind, quarter, key, count(*)::int AS posts, {of_set}
    FROM sets LEFT JOIN figures USING (id) GROUP BY kind, quarter, key
),
classes AS MATERIALIZED (
    SELECT tweet_id AS id, age, (m.place + trackers_class_v1(m.count))::smallint AS place
    FROM at_ages CROSS JOIN LATERAL (VALUES {metrics}) AS m(place, count)
    WHERE m.count IS NOT NULL
),
-- Of one post the sums say all. By a number instead of three columns, of which one is a text.
numbered AS MATERIALIZED (
    SELECT kind, quarter, key, row_number() OVER ()::int AS number
    FROM sums WHERE greatest({measured}) > 1
),
histograms AS MATERIALIZED (
    SELECT number, {of_histogram}
    FROM (
        SELECT number, age, place, count(*)::int AS posts
        FROM numbered JOIN sets USING (kind, quarter, key) JOIN classes USING (id)
        GROUP BY number, age, place
    ) counted
    GROUP BY number
),
fresh AS MATERIALIZED (
    SELECT kind, quarter, key, posts, {columns}
    FROM sums LEFT JOIN numbered USING (kind, quarter, key) LEFT JOIN histograms USING (number)
),
-- Only one process writes rollups at a time, so the places stay.
kept AS MATERIALIZED (
    SELECT r.* FROM asked CROSS JOIN LATERAL (
        SELECT ctid AS place, * FROM trackers_rollup
        WHERE kind = ANY({kinds}) AND quarter = asked.quarter OFFSET 0
    ) r
),
emptied AS (
    DELETE FROM trackers_rollup WHERE ctid = ANY(ARRAY(
        SELECT place FROM kept LEFT JOIN fresh USING (kind, quarter, key)
        WHERE fresh.posts IS NULL))
    RETURNING quarter
),
changed AS MATERIALIZED (
    SELECT fresh.* FROM fresh LEFT JOIN kept USING (kind, quarter, key)
    WHERE (fresh.posts, {fresh_columns}) IS DISTINCT FROM (kept.posts, {kept_columns})
),
written AS (
    INSERT INTO trackers_rollup (kind, quarter, key, posts, {columns})
    SELECT kind, quarter, key, posts, {columns} FROM changed ORDER BY kind, quarter, key
    ON CONFLICT (kind, quarter, key)
    DO UPDATE SET (posts, {columns}) = ROW (excluded.posts, {excluded_columns})
),
counted AS (
    INSERT INTO trackers_rollupquarter (quarter, posts, counted_at)
    SELECT asked.quarter, coalesce(f.posts, 0), %(now)s
    FROM asked LEFT JOIN fresh f ON f.quarter = asked.quarter AND f.kind = {all}
    ORDER BY asked.quarter
    ON CONFLICT (quarter) DO UPDATE
    SET posts = excluded.posts, counted_at = excluded.counted_at, due_at = NULL
)
SELECT quarter, count(*) FROM (
    SELECT quarter FROM changed UNION ALL SELECT quarter FROM emptied
) differing GROUP BY quarter
