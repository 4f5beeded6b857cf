-- In the order of ids, as everywhere that many are inserted or locked.
WITH arrived AS (
    INSERT INTO trackers_tweet (id, tracked_at, came_from, paused, missing_reason,
                                measurements)
    SELECT id, now(), %(came_from)s, %(paused)s::bool, '', 0
    FROM unnest(%(ids)s::bigint[]) AS arrival(id) ORDER BY id
    ON CONFLICT (id) DO NOTHING
    RETURNING id
),
counted AS ({counted}),
uncounted AS ({uncounted}),
{topic},
told AS (
    INSERT INTO trackers_event (topic_id, type, t, tweet_id)
    SELECT ({tweets}), 'create', floor(extract(epoch FROM now()) * 1000), id
    FROM arrived WHERE ({tweets}) IS NOT NULL
    RETURNING id
),
{staged}
SELECT id FROM arrived
