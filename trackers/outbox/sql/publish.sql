-- Locks nothing but the rows that it inserts.
WITH published AS (
    INSERT INTO trackers_event (topic_id, type, t, tweet_id, url, data)
    SELECT topic.id, e.type, coalesce(e.t, floor(extract(epoch FROM clock_timestamp()) * 1000)),
           e.tweet_id, e.url, e.data
    FROM unnest(%(topics)s::text[], %(types)s::text[], %(ts)s::bigint[], %(tweets)s::bigint[],
                %(urls)s::text[], %(data)s::jsonb[])
         WITH ORDINALITY AS e(topic, type, t, tweet_id, url, data, nth)
    JOIN trackers_topic topic ON topic.name = e.topic
    WHERE {recorded} OR topic.publisher <> 'tweetwatch'
    ORDER BY e.nth
    RETURNING id, received_at
)
INSERT INTO trackers_staged (received_at, events)
SELECT received_at, array_agg(id ORDER BY id) FROM published GROUP BY received_at
