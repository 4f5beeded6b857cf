-- What is known of tweets, in the order of their ids; of sources those that are still noted. By the
-- primary keys: for a join the planner would read all texts.
SELECT t.id, now(), t.author_id, nullif(a.username, ''), nullif(a.name, ''),
       coalesce(t.created_at,
                CASE WHEN t.id >= {first_with_time} THEN trackers_born_at_v1(t.id) END),
       nullif(x.lang, ''), x.kind, nullif(t.came_from, ''),
       ARRAY(SELECT s.kind || ' ' || coalesce(nullif(s.username, ''), s.of)
             FROM trackers_sourcetweet y JOIN trackers_source s ON s.id = y.source_id
             WHERE y.tweet_id = t.id ORDER BY s.id),
       trackers_presence_v1(t.missing_reason, t.paid_on),
       t.taken_at, t.measured_until, t.measurements, {metrics}
FROM trackers_tweet t
LEFT JOIN LATERAL (
    SELECT username, name FROM trackers_author WHERE id = t.author_id LIMIT 1
) a ON true
LEFT JOIN LATERAL (
    SELECT lang, kind FROM trackers_tweettext WHERE tweet_id = t.id LIMIT 1
) x ON true
WHERE {chosen}
ORDER BY t.id
