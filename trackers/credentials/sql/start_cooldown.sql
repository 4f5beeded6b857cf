-- The longest of: the ladder's next rung; what X asked for; until the reset that it gave, by its
-- clock, which is useless when past. No other reply ever shortens a cool-down.
UPDATE trackers_window w SET
    limited = CASE WHEN {climbs} THEN least(w.limited + 1, 32767) ELSE w.limited END,
    rejected_at = CASE WHEN {is_news} THEN statement_timestamp() ELSE w.rejected_at END,
    cooldown_until = greatest(w.cooldown_until, statement_timestamp() + least(
        %(most)s::interval,
        greatest(
            interval '0',
            CASE WHEN {climbs}
                 THEN %(first)s::interval * 2 ^ least(w.limited, {most_doublings}) END,
            %(wait)s::interval,
            %(until)s::timestamptz + interval '1 second' - {x_now}))),
    cooldown_reason = %(because)s
WHERE w.id = %(id)s
