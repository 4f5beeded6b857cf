-- Give what is staged to the subscribers, into their current batches.
-- Locks: the states of the subscribers, then their current batches, each in the order of ids, as
-- all others take them; topics and their minutes, which are locked only under the lock of the
-- spread.
WITH
-- A tweet's events are staged in order, since their writer holds its row: what is seen here has no
-- gaps. Staged rows are taken in the order of their ids.
taken AS MATERIALIZED (
    DELETE FROM trackers_staged WHERE id = ANY(ARRAY(
        SELECT id FROM (
            SELECT id, sum(n) OVER (ORDER BY id) - n AS ahead
            FROM (
                SELECT id, cardinality(events) AS n
                FROM trackers_staged ORDER BY id LIMIT %(most)s
            ) first
        ) waiting
        WHERE ahead * (SELECT greatest(count(*), 1) FROM trackers_subscription)
              < %(entries)s))
    RETURNING id, received_at, events, updates, coalesce(cardinality(updates), 0) AS rowless,
              only_for
),
-- Updates that a measurement staged: the first of a row's events, `rowless` so far (counted once a
-- row, since each look at such an array unpacks all of it). Their rows are written here, all by one
-- process, in the order of their ids.
updated AS MATERIALIZED (
    SELECT taken.id AS staged, u.place, u.id, taken.received_at, taken.only_for,
           (SELECT id FROM trackers_topic WHERE name = 'tweets') AS topic_id,
           u.type, u.t, u.tweet_id, u.figures
    FROM taken CROSS JOIN LATERAL unnest(taken.updates)
         WITH ORDINALITY AS u(id, t, tweet_id, type, figures, place)
),
written AS (
    INSERT INTO trackers_event (id, received_at, topic_id, type, t, tweet_id, figures)
    SELECT id, received_at, topic_id, type, t, tweet_id, figures FROM updated
),
-- `audience`: the topic of an event, or below 0 the one subscriber that it is for.
-- `is_lost`: the author and the source of an untracked tweet are no longer known. Filters let its
-- end pass: a subscriber that never heard of it can ignore it, and one that did would miss it.
-- ANY(ARRAY), OFFSET 0: each event is found by its key, whatever the statistics say. By the time
-- alone, which has a coarse index, each transaction reads tens of thousands of others' events.
event AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY e.staged, e.place) AS nth,
           coalesce(-e.only_for, e.topic_id) AS audience, e.*,
           a.author_id, e.type = 'delete' AND NOT EXISTS (
               SELECT FROM trackers_tweet WHERE id = e.tweet_id) AS is_lost
    FROM (
        SELECT staged, place, id, received_at, only_for, topic_id, type, tweet_id, figures,
               0 AS more
        FROM updated
        UNION ALL
        SELECT taken.id, other.place, row.id, taken.received_at, taken.only_for, row.topic_id,
               row.type, row.tweet_id, row.figures, row.more
        FROM taken CROSS JOIN LATERAL unnest(taken.events) WITH ORDINALITY AS other(id, place)
        CROSS JOIN LATERAL (
            SELECT id, topic_id, type, tweet_id, figures,
                   coalesce(pg_column_size(data), 0) + coalesce(octet_length(url), 0) AS more
            FROM trackers_event
            WHERE id = ANY(ARRAY[other.id]) AND received_at = taken.received_at OFFSET 0
        ) row
        WHERE other.place > taken.rowless
    ) e
    LEFT JOIN LATERAL (
        SELECT author_id FROM trackers_tweet
        WHERE id = e.tweet_id AND (SELECT EXISTS (
            SELECT FROM trackers_subscriber WHERE authors <> '{}'))
    ) a ON true
),
published AS MATERIALIZED (
    SELECT topic_id, count(*) AS n FROM event WHERE audience > 0 GROUP BY topic_id
),
counted AS (
    UPDATE trackers_topic t SET events = t.events + p.n FROM published p WHERE t.id = p.topic_id
),
minute AS (
    INSERT INTO trackers_topicminute AS of (topic_id, minute, events)
    SELECT topic_id, date_trunc('minute', now()), n FROM published
    ON CONFLICT (topic_id, minute) DO UPDATE SET events = of.events + excluded.events
),
-- The subscribers of an audience are looked up once for all its events.
hearer AS MATERIALIZED (
    SELECT audience.id AS audience, s.*
    FROM (SELECT DISTINCT audience AS id FROM event) audience
    CROSS JOIN LATERAL (
        SELECT subscriber_id FROM trackers_subscription WHERE topic_id = audience.id
        UNION ALL SELECT -audience.id WHERE audience.id < 0
    ) n
    CROSS JOIN LATERAL (
        SELECT id AS subscriber_id, newest_only, authors, sources, metric, at_least
        FROM trackers_subscriber
        WHERE id = ANY(ARRAY[n.subscriber_id]) AND removed_at IS NULL OFFSET 0
    ) s
),
live AS (
    INSERT INTO trackers_liveevents (place, spread_at, first_at, last_at, topics, events)
    SELECT (%(number)s::bigint << 20) + at / {events_per_row}, clock_timestamp(),
           min(received_at), max(received_at),
           array_agg(topic_id ORDER BY at), array_agg(id ORDER BY at)
    FROM (
        SELECT *, row_number() OVER (ORDER BY nth) - 1 AS at
        FROM event
        WHERE audience = ANY(ARRAY(
            SELECT id FROM trackers_topic WHERE watched_until > now()))
    ) e
    GROUP BY at / {events_per_row}
),
-- `key`: for an event that a newer one of the same tweet may replace. {figures}: the names of the
-- metrics, in the order of `figures`.
fresh AS MATERIALIZED (
    SELECT s.subscriber_id, e.nth, e.id AS event_id, e.received_at,
           200 + e.more AS bytes,
           CASE WHEN s.newest_only AND e.type = 'update' THEN coalesce(e.tweet_id, 0) ELSE 0
           END AS key
    FROM event e JOIN hearer s ON s.audience = e.audience
    WHERE (s.authors = '{}' OR e.tweet_id IS NULL OR e.author_id = ANY(s.authors) OR e.is_lost)
      AND (s.sources = '{}' OR e.tweet_id IS NULL OR e.is_lost OR EXISTS (
          SELECT FROM trackers_sourcetweet f
          WHERE f.tweet_id = e.tweet_id AND f.source_id = ANY(s.sources)))
      AND (s.at_least IS NULL OR e.figures IS NULL
           OR e.figures[6 + array_position({figures}, s.metric)] >= s.at_least)
),
state AS MATERIALIZED (
    SELECT subscriber_id FROM trackers_subscriberstate
    WHERE subscriber_id = ANY(ARRAY(SELECT DISTINCT subscriber_id FROM fresh))
    ORDER BY subscriber_id FOR UPDATE
),
current AS MATERIALIZED (
    SELECT ctid AS spot, id, subscriber_id, events, keys, first_at, last_at, bytes, deadline
    FROM trackers_eventbatch
    WHERE is_current AND subscriber_id = ANY(ARRAY(SELECT subscriber_id FROM state))
    ORDER BY id FOR UPDATE
),
-- What a subscriber has in its current batch and what is new are one line, which is cut again.
line AS MATERIALIZED (
    SELECT subscriber_id, 0 AS wave, had.nth, had.event_id, had.key, false AS is_new,
           first_at, last_at, (bytes / cardinality(events))::bigint AS bytes
    FROM current
    CROSS JOIN LATERAL unnest(events, keys) WITH ORDINALITY AS had(event_id, key, nth)
    UNION ALL
    SELECT subscriber_id, 1, nth, event_id, key, true, received_at, received_at, bytes
    FROM fresh
),
-- The newest of a key wins while they wait in one line; those that it replaces were never added.
kept AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY subscriber_id ORDER BY wave, nth) - 1 AS at
    FROM (
        SELECT *, key <> 0 AND lead(true) OVER (
            PARTITION BY subscriber_id, key ORDER BY wave, nth) IS TRUE AS is_old
        FROM line
    ) l
    WHERE NOT is_old
),
-- A batch takes `max_events`: all parts but the last are ready batches.
cut AS MATERIALIZED (
    SELECT k.subscriber_id, k.at / s.max_events AS part, s.max_events, s.timeout_ms,
           array_agg(k.event_id ORDER BY k.at) AS events,
           array_agg(k.key ORDER BY k.at) AS keys,
           min(k.first_at) AS first_at, max(k.last_at) AS last_at, sum(k.bytes) AS bytes,
           bool_and(k.is_new) AS is_new,
           k.at / s.max_events = max(k.at / s.max_events) OVER (PARTITION BY k.subscriber_id)
               AS is_last
    FROM kept k JOIN trackers_subscriber s ON s.id = k.subscriber_id
    GROUP BY k.subscriber_id, k.at / s.max_events, s.max_events, s.timeout_ms
),
part AS MATERIALIZED (
    SELECT cut.*, current.spot,
           NOT is_last OR cardinality(cut.events) >= max_events AS is_full,
           CASE WHEN current.spot IS NULL OR cut.is_new
                THEN clock_timestamp() + timeout_ms * interval '1 ms'
                ELSE current.deadline END AS ends
    FROM cut LEFT JOIN current ON current.subscriber_id = cut.subscriber_id
),
-- The row of the current batch takes the last part, so that there are never two current ones.
moved AS (
    UPDATE trackers_eventbatch b
    SET events = p.events, keys = p.keys, first_at = p.first_at, last_at = p.last_at,
        bytes = p.bytes, place = (%(number)s::bigint << 20) + p.part, deadline = p.ends,
        is_current = NOT p.is_full,
        state = CASE WHEN p.is_full THEN 'ready' ELSE 'early' END
    FROM part p
    WHERE b.ctid = ANY(ARRAY(SELECT spot FROM part WHERE is_last)) AND b.ctid = p.spot
      AND p.is_last
),
made AS (
    INSERT INTO trackers_eventbatch (uid, subscriber_id, state, is_current, place, events, keys,
                                     bytes, first_at, last_at, deadline, last_error)
    SELECT gen_random_uuid(), subscriber_id, CASE WHEN is_full THEN 'ready' ELSE 'early' END,
           NOT is_full, (%(number)s::bigint << 20) + part, events, keys,
           bytes, first_at, last_at, ends, ''
    FROM part WHERE NOT (is_last AND spot IS NOT NULL)
    ORDER BY subscriber_id, part
),
added AS (
    UPDATE trackers_subscriberstate st
    SET added = st.added + grown.n, waiting_batches = st.waiting_batches + grown.batches,
        waiting_bytes = st.waiting_bytes + grown.bytes
    FROM (
        SELECT p.subscriber_id,
               sum(cardinality(p.events)) - coalesce(max(cardinality(c.events)), 0) AS n,
               count(*) - count(DISTINCT c.id) AS batches,
               sum(p.bytes) - coalesce(max(c.bytes), 0) AS bytes
        FROM part p LEFT JOIN current c ON c.subscriber_id = p.subscriber_id
        GROUP BY p.subscriber_id
    ) grown
    WHERE st.subscriber_id = grown.subscriber_id
      AND (grown.n, grown.batches, grown.bytes) <> (0, 0, 0)
)
SELECT count(*) FROM taken
