-- Requests already under way at the first refusal do not count as further ones.
WITH stopped AS (
    UPDATE trackers_project p SET
        stops = least(p.stops + 1, 30),
        stopped_until = %(now)s::timestamptz
            + least(%(most)s::interval, %(first)s::interval * 2 ^ p.stops),
        stopped_because = %(because)s
    FROM trackers_app a
    WHERE a.id = %(app)s AND p.id = a.project_id
      AND (p.stopped_until IS NULL OR p.stopped_until <= %(now)s::timestamptz)
    RETURNING p.name, p.stopped_until, p.stopped_because, p.stops
),
{alerts}
SELECT name, stopped_until FROM stopped
