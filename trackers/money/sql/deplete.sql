-- Requests already under way at the first refusal do not count as further ones.
-- Locks: the projects, in the order of ids.
WITH paying AS MATERIALIZED (
    SELECT p.id FROM trackers_project p
    WHERE p.id = (SELECT a.project_id FROM trackers_app a WHERE a.id = %(app)s)
       OR p.account = %(account)s::bigint
    ORDER BY p.id FOR UPDATE OF p
),
depleted AS (
    UPDATE trackers_project p SET
        depletions = least(p.depletions + 1, 30),
        depleted_until = %(now)s::timestamptz + CASE
            WHEN %(resets_on)s::date IS NULL
            THEN least(%(most)s::interval, %(first)s::interval * 2 ^ p.depletions)
            -- X names a day without a zone.
            ELSE least(%(probe_every)s::interval,
                       %(resets_on)s::date::timestamp AT TIME ZONE 'UTC' - %(now)s::timestamptz)
            END,
        depleted_reason = %(because)s,
        account = coalesce(%(account)s::bigint, p.account)
    FROM paying
    WHERE p.id = paying.id
      AND (p.depleted_until IS NULL OR p.depleted_until <= %(now)s::timestamptz)
    RETURNING p.name, p.depleted_until, p.depleted_reason, p.depletions
),
{alerts}
SELECT name, depleted_until FROM depleted
