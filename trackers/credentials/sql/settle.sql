-- Replies come in any order. Several that say the same have the effect of learning them one after
-- the other, the newest request first: if it is believed, the others are about the same window; if
-- not, none of them is.
WITH
-- A reset is cut to the longest window.
said AS (
    SELECT w.*, {said_at} AS said_at,
           CASE WHEN %(resets_at)s::timestamptz IS NOT NULL
                THEN least(%(resets_at)s::timestamptz, {said_at} + %(longest)s::interval)
                END AS told
    FROM trackers_window w WHERE w.id = %(id)s FOR UPDATE OF w
),
-- Within one window (X may give its reset a second later or earlier) the lower count holds. Another
-- window replaces it if X reported that one last: in the reply to a request that was reserved after
-- the row was learned; or, among requests that were under way then, if it resets later, or is dated
-- later by more than replies overtake each other. Older ones are dropped. A reset counts as
-- reported if it is later than X's own clock.
-- An answer ends the series of rejections, if its request was sent after the last of them.
judged AS (
    SELECT said_at, told,
           CASE WHEN told > said_at IS NOT TRUE THEN 'nothing'
                WHEN abs(extract(epoch FROM told - resets_at)) <= 2 THEN 'the same'
                WHEN resets_at IS NULL OR learned_at IS NULL
                  OR %(newest)s::timestamptz > learned_at
                  OR told > resets_at AND said_at >= seen_at - {overtaken_by}
                  OR said_at > seen_at + {overtaken_by} THEN 'another'
                ELSE 'an older one' END AS window,
           %(answered)s AND coalesce(%(newest)s::timestamptz > rejected_at, false) AS ends_cooldown
    FROM said
)
UPDATE trackers_window w SET
    under_way = ARRAY(SELECT r FROM unnest(w.under_way) r
                      WHERE r <> ALL (%(times)s::timestamptz[])),
    -- A reply that reported nothing leaves its request among the lost until the next window, and in
    -- that one for as long as it may still arrive.
    lost = CASE judged.window
        WHEN 'nothing' THEN
            CASE WHEN {over} THEN {still_lost} ELSE w.lost END || %(times)s::timestamptz[]
        WHEN 'another' THEN {still_lost}
        ELSE w.lost END,
    "limit" = CASE WHEN judged.window IN ('another', 'the same')
                   THEN %(limit)s::int ELSE w."limit" END,
    limit_a_day = CASE WHEN judged.window IN ('another', 'the same')
                       THEN %(limit_a_day)s::int ELSE w.limit_a_day END,
    remaining = CASE judged.window WHEN 'another' THEN %(remaining)s::int
                                   WHEN 'the same' THEN least(w.remaining, %(remaining)s::int)
                                   ELSE w.remaining END,
    resets_at = CASE judged.window WHEN 'another' THEN judged.told
                                   WHEN 'the same' THEN greatest(w.resets_at, judged.told)
                                   ELSE w.resets_at END,
    -- A reply without a Date says nothing new about X's clock.
    seen_at = CASE WHEN judged.window IN ('another', 'the same')
                   THEN judged.said_at ELSE w.seen_at END,
    learned_at = CASE WHEN judged.window IN ('another', 'the same')
                      THEN statement_timestamp() ELSE w.learned_at END,
    limited = CASE WHEN judged.ends_cooldown THEN 0 ELSE w.limited END,
    refused = CASE WHEN judged.ends_cooldown THEN 0 ELSE w.refused END,
    refused_since = CASE WHEN judged.ends_cooldown THEN NULL ELSE w.refused_since END,
    refused_reason = CASE WHEN judged.ends_cooldown THEN '' ELSE w.refused_reason END,
    rejected_at = CASE WHEN judged.ends_cooldown THEN NULL ELSE w.rejected_at END,
    cooldown_until = CASE WHEN judged.ends_cooldown THEN NULL ELSE w.cooldown_until END,
    cooldown_reason = CASE WHEN judged.ends_cooldown THEN '' ELSE w.cooldown_reason END
FROM judged, (SELECT set_config('synchronous_commit', 'off', true)) AS unflushed
WHERE w.id = %(id)s
