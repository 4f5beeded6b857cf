SELECT of.key, c.class, sum(c.posts)::bigint
FROM unnest(%(keys)s::text[]) AS of(key) CROSS JOIN LATERAL (
    SELECT {columns} FROM trackers_rollup
    WHERE kind = %(kind)s AND key = of.key
      AND quarter >= %(since)s AND quarter < %(old_until)s AND {measured} > 0 OFFSET 0
) r CROSS JOIN LATERAL ({classes}) c
GROUP BY 1, 2
