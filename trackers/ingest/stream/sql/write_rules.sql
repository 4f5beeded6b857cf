-- Locks the sources in the order of ids, as everywhere.
WITH told AS (
    SELECT * FROM unnest(
        %(ids)s::bigint[], %(values)s::text[], %(rules)s::bigint[], %(problems)s::text[]
    ) AS told(id, value, rule, problem)
),
-- Includes sources that no longer want a rule, such as paused ones. A source whose text has changed
-- meanwhile has no rule for it yet.
held AS MATERIALIZED (
    SELECT s.id, told.rule, coalesce(told.problem, '') AS problem
    FROM trackers_source s LEFT JOIN told ON told.id = s.id AND told.value = s.of
    WHERE s.kind = 'stream' AND (told.id IS NOT NULL OR s.rule_id IS NOT NULL)
    ORDER BY s.id FOR NO KEY UPDATE OF s
)
-- Only complaints about the rule are cleared: others come from the polls that fill its gaps.
UPDATE trackers_source s
SET rule_id = held.rule,
    problem = CASE WHEN held.problem <> '' THEN held.problem
                   WHEN starts_with(s.problem, %(refused)s)
                     OR starts_with(s.problem, %(waits)s) THEN '' ELSE s.problem END
FROM held
WHERE s.id = held.id
  AND (s.rule_id IS DISTINCT FROM held.rule OR held.problem <> ''
       OR starts_with(s.problem, %(refused)s) OR starts_with(s.problem, %(waits)s))
