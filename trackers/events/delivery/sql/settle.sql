-- Locks: states of subscribers in the order of ids, then batches in theirs, as the claim does. A
-- subscriber's minute is written only under the lock of its state.
WITH told AS MATERIALIZED (
    SELECT *, clock_timestamp() AS at FROM unnest(
        %(ids)s::bigint[], %(leases)s::bigint[], %(subscribers)s::bigint[],
        %(numbers)s::int[], %(uids)s::uuid[], %(delivered)s::bool[], %(took)s::int[],
        %(statuses)s::int[], %(errors)s::text[], %(answers)s::text[], %(waits)s::interval[],
        %(asked)s::interval[], %(refused)s::bool[], %(throttled)s::bool[], %(kinds)s::text[]
    ) AS told(id, lease, subscriber_id, number, uid, delivered, took, status, error, answer,
              wait, asked, refused, throttled, kind)
),
state AS MATERIALIZED (
    SELECT st.subscriber_id, st.health, st.delivered_at, (
               SELECT ordered FROM trackers_subscriber WHERE id = st.subscriber_id) AS ordered
    FROM trackers_subscriberstate st
    WHERE st.subscriber_id = ANY(ARRAY(SELECT DISTINCT subscriber_id FROM told))
    ORDER BY st.subscriber_id FOR UPDATE
),
-- The fence: batches that still carry the lease they were claimed with.
held AS MATERIALIZED (
    SELECT told.*, b.*
    FROM (SELECT * FROM told ORDER BY id) told CROSS JOIN LATERAL (
        SELECT ctid AS spot, events, keys, bytes, first_at, last_at, place, made_at, refused_at,
               refusals
        FROM trackers_eventbatch WHERE id = told.id AND lease = told.lease FOR UPDATE
    ) b
),
-- `by_content`: it is refused for what it contains, since another batch was delivered after its
-- first refusal. Only such refusals count, and the first; in an ordered line, where no other can be
-- delivered meanwhile, each one does.
judged AS MATERIALIZED (
    SELECT *, CASE WHEN refused THEN
                  refusals + (refused_at IS NULL OR by_content OR ordered)::int
              ELSE refusals END AS refusals_now
    FROM (
        SELECT held.*, state.ordered, cardinality(held.events) AS n,
               held.refused AND coalesce(
                   held.refused_at < state.delivered_at
                   OR held.refused_at IS NOT NULL AND bool_or(
                       held.delivered AND held.kind = 'events') OVER (
                       PARTITION BY held.subscriber_id), false) AS by_content
        FROM held JOIN state USING (subscriber_id)
    ) h
),
-- `is_divided`: into batches of one event each, so that only the guilty one is refused from now on.
-- Of an ordered line only a person sets aside: what follows may depend on it.
-- `is_once`: a person sent it. However it ends, it is over, and counts for nothing: what a receiver
-- says to a test is no sign that it takes what it refused.
verdict AS MATERIALIZED (
    SELECT *,
           kind <> 'events' AS is_once, delivered AND kind = 'events' AS is_counted,
           refused AND n > 1 AND (by_content OR ordered) AND refusals_now >= %(divided_at)s
               AS is_divided,
           by_content AND n = 1 AND NOT ordered AND refusals_now >= %(aside_at)s AS is_aside,
           NOT (delivered OR by_content OR throttled) AND kind = 'events' AS is_failure
    FROM judged
),
gone AS (
    DELETE FROM trackers_eventbatch
    WHERE ctid = ANY(ARRAY(SELECT spot FROM verdict WHERE delivered OR is_divided OR is_once))
),
-- They stand where the batch stood, and have been refused once, with it. Their bytes are its bytes.
piece AS (
    INSERT INTO trackers_eventbatch (uid, subscriber_id, state, is_current, place, events, keys,
                                     bytes, first_at, last_at, made_at, deadline, attempts,
                                     last_status, last_error, refused_at, refusals, refusal)
    SELECT gen_random_uuid(), subscriber_id, 'early', false, place, ARRAY[event], ARRAY[key],
           bytes * nth / n - bytes * (nth - 1) / n, first_at, last_at, made_at, at, 1,
           status, left(error, 300), refused_at, 1, answer
    FROM verdict CROSS JOIN LATERAL
         unnest(verdict.events, verdict.keys) WITH ORDINALITY AS one(event, key, nth)
    WHERE is_divided
    ORDER BY verdict.id, nth
),
result AS MATERIALIZED (
    SELECT subscriber_id, coalesce(sum(n) FILTER (WHERE is_counted), 0) AS events,
           count(*) FILTER (WHERE is_counted)
               - coalesce(sum(n - 1) FILTER (WHERE is_divided), 0) AS batches,
           coalesce(sum(bytes) FILTER (WHERE is_counted), 0) AS bytes,
           sum(CASE WHEN is_counted THEN 1 WHEN is_failure THEN -2 ELSE 0 END) AS points,
           bool_or(is_counted) AS some_went, bool_or(is_failure) AS some_failed,
           bool_or(status = 410) AS is_gone, max(at) AS at,
           max(asked) FILTER (WHERE NOT by_content) AS asked
    FROM verdict GROUP BY subscriber_id
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
        delivered_at = CASE WHEN r.some_went THEN r.at ELSE st.delivered_at END,
        failing_since = CASE WHEN r.some_went THEN NULL
                             WHEN r.some_failed THEN coalesce(st.failing_since, r.at)
                             ELSE st.failing_since END,
        not_before = greatest(
            st.not_before, clock_timestamp() + r.asked,
            CASE WHEN r.some_failed THEN clock_timestamp()
                + (1 + random() / 2) * power(2, -r.health) * %(most)s::interval END),
        disabled_at = CASE WHEN r.is_gone THEN coalesce(st.disabled_at, clock_timestamp())
                           ELSE st.disabled_at END,
        disabled_reason = CASE WHEN r.is_gone AND st.disabled_at IS NULL
            THEN 'It answered 410 Gone: it wants no more.' ELSE st.disabled_reason END
    FROM (
        SELECT result.*, greatest(0, least(100, state.health + points))::int AS health
        FROM result JOIN state USING (subscriber_id)
    ) r
    WHERE st.subscriber_id = r.subscriber_id
),
minute AS (
    INSERT INTO trackers_subscriberminute AS of (subscriber_id, minute, events)
    SELECT subscriber_id, date_trunc('minute', now()), events FROM result WHERE events > 0
    ON CONFLICT (subscriber_id, minute) DO UPDATE SET events = of.events + excluded.events
),
back AS (
    UPDATE trackers_eventbatch b
    SET state = CASE WHEN v.is_aside THEN 'aside' ELSE 'early' END,
        place = CASE WHEN v.is_aside THEN -b.place ELSE b.place END,
        lease = NULL, leased_until = NULL,
        deadline = clock_timestamp() + v.wait * (1 + random() / 2),
        last_status = v.status, last_error = left(v.error, 300),
        refused_at = CASE WHEN v.refused THEN coalesce(v.refused_at, v.at) ELSE v.refused_at END,
        refusals = v.refusals_now,
        refusal = CASE WHEN v.refused THEN v.answer ELSE b.refusal END
    FROM verdict v
    WHERE b.ctid = ANY(ARRAY(SELECT spot FROM verdict WHERE NOT (delivered OR is_divided OR is_once)))
      AND b.ctid = v.spot
),
logged AS (
    INSERT INTO trackers_attempt (subscriber_id, uid, kind, number, outcome, took_ms, status,
                                  error, answer, events, first_at, last_at)
    SELECT told.subscriber_id, told.uid, told.kind, told.number,
           CASE WHEN held.id IS NULL THEN 'late' WHEN told.delivered THEN 'delivered'
                WHEN told.throttled THEN 'throttled' ELSE 'failed' END,
           told.took, told.status, told.error, told.answer,
           coalesce(held.events, '{}'), coalesce(held.first_at, now()),
           coalesce(held.last_at, now())
    FROM told LEFT JOIN held ON held.id = told.id
)
SELECT array_agg(id) FROM held
