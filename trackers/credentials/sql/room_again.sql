SELECT c.name,
       {room} > 0 AND {in_turn} AND {has_tokens} AND {has_credit} AND {is_due} AND {is_cooled_down},
       greatest(
       CASE WHEN NOT {is_due} THEN c.retry_at END,
       CASE WHEN NOT {is_cooled_down} THEN w.cooldown_until END,
       CASE WHEN NOT {has_credit} THEN p.depleted_until END,
       CASE WHEN {has_tokens} THEN NULL
            WHEN c.renewal_problem = '' THEN {soon}
            ELSE c.refreshing_until END,
       CASE WHEN {room} > 0 THEN CASE WHEN NOT {in_turn} THEN {last} + {step} END
            WHEN {app_opens} IS NOT NULL THEN least({app_opens}, {app_is_asked})
            WHEN {is_awaited} THEN {soon}
            ELSE least({opens}, w.learned_at + {unheard_for}) END) AS at,
       CASE WHEN NOT {has_credit} THEN p.depleted_reason
            WHEN NOT {is_due} THEN {refused_keys}
            WHEN NOT {is_cooled_down}
                 AND NOT ({is_used_up} AND w.cooldown_until <= {opens} + interval '2 seconds')
            THEN w.cooldown_reason
            WHEN {has_tokens} THEN ''
            ELSE coalesce(nullif(c.renewal_problem, ''), 'new tokens are on their way') END,
       {room} > 0, {opens}, NOT {is_due} OR w.refused > 0 AND NOT {is_cooled_down},
       CASE WHEN {has_credit} THEN '' ELSE p.name END, {is_awaited}, statement_timestamp()
FROM {usable} WHERE {which}
ORDER BY at, c.name
