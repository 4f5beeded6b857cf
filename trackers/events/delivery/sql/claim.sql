-- Locks: states of subscribers, then batches; both with SKIP LOCKED.
-- A subscriber's state is locked for its claim, so that two processes together never exceed its
-- concurrency, nor pass the head of an ordered line.
WITH
-- Those that waited longest for an attempt come first. One that fails goes last for 5 s, so that
-- its retries delay nobody in a burst, and still has its turn however much there is to do.
-- A subscriber that may get nothing now, as when its ordered line waits for the head, is left out
-- before the LIMIT; otherwise a few of these would keep all others from their turn. Each subscriber
-- is probed by itself, whatever the statistics say: an EXISTS would be planned as a join to all
-- ready batches.
-- `head`: of an ordered line, if it is ready. Nothing else of the line may be sent.
-- With a rate it gets the batches of a tenth of a second, at least one.
turn AS MATERIALIZED (
    SELECT st.subscriber_id, s.ordered, s.rate, its.head,
           CASE WHEN s.rate IS NULL THEN its.room
                ELSE least(its.room, greatest(1, s.rate / 10 / s.max_events)) END AS room
    FROM trackers_subscriberstate st JOIN trackers_subscriber s ON s.id = st.subscriber_id
    CROSS JOIN LATERAL (
        SELECT CASE WHEN s.ordered THEN 1 ELSE s.concurrency END - (
                   SELECT count(*) FROM trackers_eventbatch b
                   WHERE b.subscriber_id = s.id AND b.state = 'pending') AS room,
               CASE WHEN NOT s.ordered THEN coalesce(
                   (SELECT true FROM trackers_eventbatch b
                    WHERE b.subscriber_id = s.id AND b.state = 'ready' AND b.attempts = 0 LIMIT 1),
                   (SELECT true FROM trackers_eventbatch b
                    WHERE b.subscriber_id = s.id AND b.state = 'ready' AND b.attempts > 0 LIMIT 1))
               END AS has_some,
               CASE WHEN s.ordered THEN (
                   SELECT CASE WHEN b.state = 'ready' THEN b.id END FROM trackers_eventbatch b
                   WHERE b.subscriber_id = s.id AND b.place >= 0
                   ORDER BY b.place, b.id LIMIT 1)
               END AS head
    ) its
    WHERE st.disabled_at IS NULL AND s.paused_at IS NULL AND s.removed_at IS NULL
      AND (st.not_before IS NULL OR st.not_before <= clock_timestamp())
      AND (s.rate IS NULL OR st.paced_until IS NULL OR st.paced_until <= clock_timestamp())
      AND (its.has_some OR its.head IS NOT NULL) AND its.room > 0
    ORDER BY st.attempted_at + CASE WHEN st.failing_since IS NULL THEN interval '0 s'
                                    ELSE interval '5 s' END NULLS FIRST, st.subscriber_id
    LIMIT %(slots)s FOR UPDATE OF st SKIP LOCKED
),
-- First attempts go before retries: otherwise a few batches that are refused each time, and are the
-- oldest, would take every turn of their subscriber.
chosen AS MATERIALIZED (
    SELECT b.spot
    FROM turn CROSS JOIN LATERAL (
        SELECT spot FROM (
            SELECT spot FROM (
                SELECT ctid AS spot FROM trackers_eventbatch
                WHERE subscriber_id = turn.subscriber_id AND NOT turn.ordered
                  AND state = 'ready' AND attempts = 0
                ORDER BY place, id LIMIT turn.room FOR UPDATE SKIP LOCKED) first
            UNION ALL
            SELECT spot FROM (
                SELECT ctid AS spot FROM trackers_eventbatch
                WHERE subscriber_id = turn.subscriber_id AND NOT turn.ordered
                  AND state = 'ready' AND attempts > 0
                ORDER BY place, id LIMIT turn.room FOR UPDATE SKIP LOCKED) again
            UNION ALL
            SELECT spot FROM (
                SELECT ctid AS spot FROM trackers_eventbatch
                WHERE id = turn.head AND state = 'ready' FOR UPDATE SKIP LOCKED) head
        ) either
        LIMIT turn.room
    ) b
    LIMIT %(slots)s
),
claimed AS (
    UPDATE trackers_eventbatch
    SET state = 'pending', lease = %(lease)s, attempts = attempts + 1,
        leased_until = clock_timestamp() + %(for)s
    WHERE ctid = ANY(ARRAY(SELECT spot FROM chosen))
    RETURNING id, uid, subscriber_id, events, attempts, first_at, last_at, kind
),
-- With a rate it then gets nothing until its rate allows for their events. 250 ms: an idle
-- deliverer looks that late, which is made up for.
seen AS (
    UPDATE trackers_subscriberstate st
    SET attempted_at = clock_timestamp(),
        paced_until = (
            SELECT greatest(st.paced_until, clock_timestamp() - interval '250 ms') + (
                       SELECT sum(cardinality(events)) FROM claimed c
                       WHERE c.subscriber_id = turn.subscriber_id
                   ) * interval '1 s' / turn.rate
            FROM turn WHERE turn.subscriber_id = st.subscriber_id AND turn.rate IS NOT NULL)
    WHERE subscriber_id = ANY(ARRAY(SELECT subscriber_id FROM claimed))
)
SELECT id, uid, subscriber_id, events, attempts, first_at, last_at, kind FROM claimed
ORDER BY subscriber_id, id
