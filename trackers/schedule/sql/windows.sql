-- Whether any credential is usable now (not refused by X, and with money), and the sum of their
-- windows' limits (null: X has reported none yet), for a quarter of an hour, of which a day has 96. Each
-- window counts once: an app's bearer tokens share theirs.
WITH usable AS (
    SELECT c.app_id, CASE WHEN c.kind <> 'bearer' THEN c.id END AS holder,
           %(endpoints)s::jsonb ->> c.api AS endpoint
    FROM trackers_credential c
    JOIN trackers_app a ON a.id = c.app_id
    JOIN trackers_project p ON p.id = a.project_id
    WHERE c.disabled_at IS NULL
      AND (p.depleted_until IS NULL OR p.depleted_until <= now())
      AND (c.retry_at IS NULL OR c.retry_at <= now())
)
SELECT EXISTS (SELECT FROM usable), (
    SELECT sum(least(w.limit, w.limit_a_day / 96.0))::float8 FROM trackers_window w
    WHERE EXISTS (SELECT FROM usable u
                  WHERE u.app_id = w.app_id AND u.endpoint = w.endpoint
                    AND u.holder IS NOT DISTINCT FROM w.credential_id))
