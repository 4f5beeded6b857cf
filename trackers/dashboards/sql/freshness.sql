-- One row, of what workers write anyway: the pause if there is one, what a cluster last saw, and how
-- many alerts the person has not read.
SELECT now(), pause.by, pause.because, pause.since,
       EXISTS (SELECT FROM trackers_worker WHERE seen_at > now() - %(silent_after)s::interval),
       EXISTS (SELECT FROM trackers_credential WHERE disabled_at IS NULL),
       seen.taken_at > now() - %(fresh_for)s::interval, seen.scheduled, seen.due, seen.oldest_due_seconds,
       {unread}
FROM (SELECT 1) AS one
LEFT JOIN trackers_pausedall AS pause ON true
LEFT JOIN trackers_queuestatistics AS seen ON seen.queue = %(queue)s
