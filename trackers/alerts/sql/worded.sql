-- Which of some tweets have the words of which rule, the newest of each rule first. The words of a
-- text are made once, however many rules there are. LATERAL: by the primary keys, whatever the
-- statistics say.
WITH told AS MATERIALIZED (
    SELECT came.id, t.author_id, {words} AS words
    FROM unnest(%(ids)s::bigint[]) AS came(id)
    CROSS JOIN LATERAL (SELECT author_id FROM trackers_tweet WHERE id = came.id LIMIT 1) t
    CROSS JOIN LATERAL (SELECT text FROM trackers_tweettext WHERE tweet_id = came.id LIMIT 1) x
)
SELECT rule.place, found.id, found.author_id
FROM unnest(%(queries)s::text[], %(abouts)s::text[], %(ofs)s::bigint[], %(mosts)s::int[])
    WITH ORDINALITY AS rule(query, about, of, most, place)
CROSS JOIN LATERAL (
    SELECT told.id, told.author_id FROM told
    WHERE told.words @@ rule.query::tsquery
      AND CASE rule.about
          WHEN 'author' THEN told.author_id = rule.of
          -- Not EXISTS, for which the whole table may be hashed.
          WHEN 'source' THEN (
              SELECT true FROM trackers_sourcetweet y
              WHERE y.source_id = rule.of AND y.tweet_id = told.id LIMIT 1)
          ELSE true END
    ORDER BY told.id DESC LIMIT rule.most
) found
ORDER BY rule.place, found.id DESC
