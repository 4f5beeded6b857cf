-- In one of its topics, since its clients may not know others; of a type that they all ignore.
WITH topic AS (
    SELECT t.id FROM trackers_topic t
    LEFT JOIN trackers_subscription n
      ON n.topic_id = t.id AND n.subscriber_id = %(subscriber)s
    WHERE n.topic_id IS NOT NULL OR t.name = 'tweets'
    ORDER BY n.topic_id IS NULL, t.name LIMIT 1
),
told AS (
    INSERT INTO trackers_event (topic_id, type, t, url)
    SELECT id, 'noop', floor(extract(epoch FROM clock_timestamp()) * 1000), '/' FROM topic
    RETURNING id, received_at
)
INSERT INTO trackers_staged (received_at, events, only_for)
SELECT received_at, ARRAY[id], %(subscriber)s FROM told
