-- In one of its topics, since its clients may not know others; of a type that they all ignore.
-- Before all that waits in line: who asks how a receiver answers does not wait for it.
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
INSERT INTO trackers_eventbatch (uid, subscriber_id, state, kind, place, events, keys, bytes,
                                 first_at, last_at, deadline)
SELECT gen_random_uuid(), s.id, 'ready', 'test', 0, ARRAY[told.id], '{0}', 0,
       told.received_at, told.received_at, clock_timestamp()
FROM told CROSS JOIN trackers_subscriber s
WHERE s.id = %(subscriber)s AND s.removed_at IS NULL
