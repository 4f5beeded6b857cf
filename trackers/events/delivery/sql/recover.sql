-- Batches whose lease ran out: their process is dead, or too slow. Nobody knows whether they
-- arrived, so they are sent again, without harm to the subscriber's health; but not what a person
-- sent, who sees in the log that it was lost.
WITH lost AS MATERIALIZED (
    SELECT ctid AS spot, uid, subscriber_id, attempts, events, first_at, last_at, kind
    FROM trackers_eventbatch
    WHERE state = 'pending' AND leased_until < (SELECT clock_timestamp())
    ORDER BY id LIMIT %(most)s FOR UPDATE SKIP LOCKED
),
back AS (
    UPDATE trackers_eventbatch
    SET state = 'early', lease = NULL, leased_until = NULL, last_status = NULL,
        deadline = clock_timestamp() + %(wait)s, last_error = 'Its delivery did not end.'
    WHERE ctid = ANY(ARRAY(SELECT spot FROM lost WHERE kind = 'events'))
),
gone AS (
    DELETE FROM trackers_eventbatch
    WHERE ctid = ANY(ARRAY(SELECT spot FROM lost WHERE kind <> 'events'))
),
logged AS (
    INSERT INTO trackers_attempt (subscriber_id, uid, kind, number, outcome,
                                  events, first_at, last_at)
    SELECT subscriber_id, uid, kind, attempts, 'lost', events, first_at, last_at FROM lost
)
SELECT count(*) FROM lost
