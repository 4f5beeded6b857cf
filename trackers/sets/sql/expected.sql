-- What is usual at an age for each author and kind of post, of how many posts, and whether these are of
-- that kind; else they are of all kinds.
SELECT pair.author_id, pair.kind, coalesce(own.expected, of_all.expected),
       coalesce(CASE WHEN own.expected IS NOT NULL THEN own.posts ELSE of_all.posts END, 0),
       own.expected IS NOT NULL
FROM unnest(%(authors)s::bigint[], %(kinds)s::smallint[]) AS pair(author_id, kind)
LEFT JOIN LATERAL (
    SELECT expected[%(metric)s][%(age)s] AS expected, posts[%(metric)s][%(age)s] AS posts
    FROM trackers_benchmark WHERE author_id = pair.author_id AND kind = pair.kind LIMIT 1
) own ON true
LEFT JOIN LATERAL (
    SELECT expected[%(metric)s][%(age)s] AS expected, posts[%(metric)s][%(age)s] AS posts
    FROM trackers_benchmark
    -- Not looked up where that of the kind says it.
    WHERE own.expected IS NULL AND author_id = pair.author_id AND kind = 0 LIMIT 1
) of_all ON true
