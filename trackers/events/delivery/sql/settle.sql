-- Locks: states of subscribers in the order of ids, then batches in theirs, as the claim does. A
-- subscriber's minute is written only under the lock of its state.
WITH told AS MATERIALIZED (
    SELECT * FROM unnest(
        %(ids)s::bigint[], %(leases)s::bigint[], %(subscribers)s::bigint[],
        %(numbers)s::int[], %(uids)s::uuid[], %(delivered)s::bool[], %(took)s::int[],
        %(statuses)s::int[], %(errors)s::text[], %(answers)s::text[], %(waits)s::interval[],
        %(asked)s::interval[]
    ) AS told(id, lease, subscriber_id, number, uid, delivered, took, status, error, answer,
              wait, asked)
),
state AS MATERIALIZED (
    SELECT subscriber_id, health FROM trackers_subscriberstate
    WHERE subscriber_id = ANY(ARRAY(SELECT DISTINCT subscriber_id FROM told))
    ORDER BY subscriber_id FOR UPDATE
),
-- The fence: batches that still carry the lease they were claimed with.
held AS MATERIALIZED (
    SELECT told.*, b.spot, b.events, b.bytes, b.first_at, b.last_at
    FROM (SELECT * FROM told ORDER BY id) told CROSS JOIN LATERAL (
        SELECT ctid AS spot, events, bytes, first_at, last_at FROM trackers_eventbatch
        WHERE id = told.id AND lease = told.lease FOR UPDATE
    ) b
),
gone AS (
    DELETE FROM trackers_eventbatch
    WHERE ctid = ANY(ARRAY(SELECT spot FROM held WHERE delivered))
),
result AS MATERIALIZED (
    SELECT state.subscriber_id, coalesce(sum(n) FILTER (WHERE delivered), 0) AS events,
           count(*) FILTER (WHERE delivered) AS batches,
           coalesce(sum(bytes) FILTER (WHERE delivered), 0) AS bytes,
           greatest(0, least(100, state.health + sum(
               CASE WHEN delivered THEN 1 ELSE -2 END)))::int AS health,
           bool_or(delivered) AS some_went, bool_or(NOT delivered) AS some_failed,
           bool_or(status = 410) AS is_gone, max(asked) AS asked
    FROM state JOIN (SELECT *, cardinality(events) AS n FROM held) h USING (subscriber_id)
    GROUP BY state.subscriber_id, state.health
),
-- The gate, as in Routemaster: the longest wait at a health of 0, halved for each point more, so
-- that there is none until the health is nearly gone; or what the subscriber asks for. A success
-- does not end the gate: what the answer to another batch asked for still stands. `greatest` leaves
-- nulls out.
-- random(): up to half as long again, drawn for each one, so that what failed together is not
-- retried together.
kept AS (
    UPDATE trackers_subscriberstate st
    SET health = r.health,
        delivered = st.delivered + r.events,
        waiting_batches = st.waiting_batches - r.batches,
        waiting_bytes = st.waiting_bytes - r.bytes,
        failing_since = CASE WHEN NOT r.some_went
                             THEN coalesce(st.failing_since, clock_timestamp()) END,
        not_before = CASE WHEN r.some_failed THEN greatest(
            st.not_before, clock_timestamp() + r.asked,
            clock_timestamp() + (1 + random() / 2) * power(2, -r.health) * %(most)s::interval)
            ELSE st.not_before END,
        disabled_at = CASE WHEN r.is_gone THEN coalesce(st.disabled_at, clock_timestamp())
                           ELSE st.disabled_at END,
        disabled_reason = CASE WHEN r.is_gone AND st.disabled_at IS NULL
            THEN 'It answered 410 Gone: it wants no more.' ELSE st.disabled_reason END
    FROM result r WHERE st.subscriber_id = r.subscriber_id
),
minute AS (
    INSERT INTO trackers_subscriberminute AS of (subscriber_id, minute, events)
    SELECT subscriber_id, date_trunc('minute', now()), events FROM result WHERE events > 0
    ON CONFLICT (subscriber_id, minute) DO UPDATE SET events = of.events + excluded.events
),
back AS (
    UPDATE trackers_eventbatch b
    SET state = 'early', lease = NULL, leased_until = NULL,
        deadline = clock_timestamp() + held.wait * (1 + random() / 2),
        last_status = held.status, last_error = left(held.error, 300)
    FROM held
    WHERE b.ctid = ANY(ARRAY(SELECT spot FROM held WHERE NOT delivered))
      AND b.ctid = held.spot
),
logged AS (
    INSERT INTO trackers_attempt (subscriber_id, uid, number, outcome, took_ms, status, error,
                                  answer, events, first_at, last_at)
    SELECT told.subscriber_id, told.uid, told.number,
           CASE WHEN held.id IS NULL THEN 'late' WHEN told.delivered THEN 'delivered'
                ELSE 'failed' END,
           told.took, told.status, told.error, told.answer,
           coalesce(held.events, '{}'), coalesce(held.first_at, now()),
           coalesce(held.last_at, now())
    FROM told LEFT JOIN held ON held.id = told.id
)
SELECT array_agg(id) FROM held
