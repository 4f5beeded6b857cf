-- Reserve requests with one credential, where there is room. {room}, {count} and the other parts
-- are explained in windows.py.
WITH chosen AS MATERIALIZED (
    SELECT w.id, c.id AS credential_id, c.refused, {room} AS room, {count} AS count
    FROM {usable}
    WHERE {which} AND {has_tokens} AND {has_credit} AND {is_due} AND {is_cooled_down} AND {room} > 0
        AND {in_turn}
        AND (NOT %(trusted)s OR c.refused = 0 AND w.refused = 0)
    ORDER BY {order}
    LIMIT 1
    FOR UPDATE OF w {when_locked}
),
-- One try of refused keys is taken by one worker, at whichever endpoint: another that chose them too
-- waits for the credential's row, and then sees that they are not due. It counts as refused until
-- an answer says otherwise, or a worker that dies during it would make it once more. Locks: a window,
-- then its credential.
tried AS (
    UPDATE trackers_credential c
    SET used_at = statement_timestamp(), refused = {tried}, retry_at = {tried_until}
    FROM chosen
    WHERE c.id = chosen.credential_id AND chosen.refused > 0 AND {is_due}
    RETURNING c.id, c.refused
),
-- The row is locked and its room checked again: FOR UPDATE, and the UPDATE after it, see the newest
-- version of the row, whatever the statement's snapshot shows.
-- A crash of the database could forget a reservation, which would allow one request too many. So
-- near the end of a window, and with refused keys, it is flushed before the request is sent.
reserved AS (
    UPDATE trackers_window w SET under_way = {live} || {times}
    FROM chosen
    WHERE w.id = chosen.id AND {is_cooled_down} AND {room} >= chosen.count AND {in_turn}
        AND (chosen.refused = 0 OR EXISTS (SELECT FROM tried))
    RETURNING w.id, chosen.credential_id,
        w.under_way[cardinality(w.under_way) - chosen.count + 1:] AS times,
        set_config('synchronous_commit',
                   CASE WHEN chosen.refused = 0 AND chosen.room - chosen.count >= 1000
                        THEN 'off' ELSE 'on' END, true)
),
used AS (
    UPDATE trackers_credential c SET used_at = reserved.times[1]
    FROM reserved JOIN chosen ON chosen.refused = 0
    WHERE c.id = reserved.credential_id
        AND (c.used_at IS NULL OR c.used_at < reserved.times[1] - interval '1 second')
)
SELECT reserved.id, reserved.times, {columns}, p.id, p.depletions
FROM reserved JOIN trackers_credential c ON c.id = reserved.credential_id
JOIN trackers_app a ON a.id = c.app_id JOIN trackers_project p ON p.id = a.project_id
