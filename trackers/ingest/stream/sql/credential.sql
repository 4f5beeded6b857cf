-- X opens streams for bearer tokens only. One that already listens continues, since the rules
-- belong to its app; one that X refused, or that has no money, comes last.
-- Of those that X refused, the one that is tried again first.
SELECT c.id, c.name, p.id,
       CASE WHEN p.depleted_until > statement_timestamp()
            THEN p.depleted_until - statement_timestamp() END,
       p.depleted_reason, p.name
FROM trackers_credential c
JOIN trackers_app a ON a.id = c.app_id JOIN trackers_project p ON p.id = a.project_id
LEFT JOIN trackers_window w ON w.app_id = a.id AND w.credential_id IS NULL
    AND w.endpoint = '{endpoint}'
WHERE c.kind = 'bearer' AND c.api = 'v2' AND c.disabled_at IS NULL
ORDER BY coalesce(p.depleted_until > statement_timestamp(), false),
         c.refused > 0 OR coalesce(w.refused > 0, false),
         greatest(c.retry_at, w.cooldown_until, statement_timestamp()),
         c.name <> (SELECT coalesce(max(credential), '') FROM trackers_stream), c.id
LIMIT 1
