-- Requests already under way at the first refusal do not count as further ones.
WITH depleted AS (
    UPDATE trackers_project p SET
        depletions = least(p.depletions + 1, 30),
        depleted_until = %(now)s::timestamptz
            + least(%(most)s::interval, %(first)s::interval * 2 ^ p.depletions),
        depleted_reason = %(because)s
    FROM trackers_app a
    WHERE a.id = %(app)s AND p.id = a.project_id
      AND (p.depleted_until IS NULL OR p.depleted_until <= %(now)s::timestamptz)
    RETURNING p.name, p.depleted_until, p.depleted_reason, p.depletions
),
{alerts}
SELECT name, depleted_until FROM depleted
