-- The channels whose time has come, with what each of them sends.
WITH due AS MATERIALIZED (
    SELECT c.id FROM trackers_channel c
    WHERE c.next_at <= clock_timestamp() AND c.stopped_at IS NULL
      AND EXISTS (
          SELECT FROM trackers_channelmessage m WHERE m.channel_id = c.id AND m.state = 'waiting')
      -- A person waits for the answer to a test, at any hour.
      AND (c.owner_id IS NULL OR c.owner_id <> ALL(%(quiet)s::int[]) OR EXISTS (
          SELECT FROM trackers_channelmessage m
          WHERE m.channel_id = c.id AND m.state = 'waiting' AND m.is_test))
    -- Who waited longest is first, so no channel starves another.
    ORDER BY c.next_at LIMIT %(slots)s
    -- Several may send concurrently, and do not wait for each other's claims.
    FOR UPDATE OF c SKIP LOCKED
), claimed AS (
    UPDATE trackers_channel c SET
        claim = %(claim)s,
        attempts = least(c.attempts + 1, 32767),
        -- The wait doubles with each attempt. It begins with the claim, so that a message whose
        -- process died of it is not tried at once by the next one; and it outlasts the sending.
        next_at = clock_timestamp() + greatest(
            %(lease)s::interval,
            least(%(first)s::interval * power(2, least(c.attempts, 20)), %(longest)s::interval)),
        -- A test goes alone. Else what an earlier attempt may have sent is sent again as it was,
        -- so that a service that knows its key shows it once.
        sending_upto = coalesce(
            (SELECT min(id) FROM trackers_channelmessage m
             WHERE m.channel_id = c.id AND m.state = 'waiting' AND m.is_test),
            (SELECT c.sending_upto WHERE EXISTS (
                SELECT FROM trackers_channelmessage m
                WHERE m.channel_id = c.id AND m.state = 'waiting' AND m.id <= c.sending_upto)),
            (SELECT max(id) FROM trackers_channelmessage m
             WHERE m.channel_id = c.id AND m.state = 'waiting'))
    FROM due WHERE c.id = due.id
    RETURNING c.id, c.name, c.kind, c.address, c.attempts, c.sending_upto
)
SELECT * FROM claimed
