-- By parts of equal length of both periods, what these sets have of each metric at the age.
SELECT of.key, width_bucket(r.quarter, %(before)s, %(until)s, %(steps)s) - 1 AS step, {totals}
FROM unnest(%(keys)s::text[]) AS of(key) CROSS JOIN LATERAL (
    SELECT quarter, {columns} FROM trackers_rollup
    WHERE kind = %(kind)s AND key = of.key AND quarter >= %(before)s AND quarter < %(until)s OFFSET 0
) r GROUP BY 1, 2
