-- Ages and growths in steps of the square root of two. A pace falls with age, so growth, which is
-- pace times age, is steadier; below a hundredth only adapt.ALLOWANCE counts.
SELECT tier, count(*)::int, exp(avg(ln(age))), exp(avg(ln(growth)))
FROM (
    SELECT place.tier,
           greatest(date_part('epoch', %(now)s - t.created_at), 1) AS age,
           greatest(
               trackers_known_pace_v1(
                   t.pace, date_part('epoch', t.measured_until - t.created_at))
               * greatest(date_part('epoch', t.measured_until - t.created_at), 1), 0.01) AS growth
    FROM unnest(%(tiers)s::int[], %(from)s::bigint[], %(below)s::bigint[])
        AS place(tier, first, below)
    CROSS JOIN LATERAL (
        SELECT * FROM trackers_tweet WHERE id >= place.first AND id < place.below
        ORDER BY id LIMIT {tweets_a_place}
    ) t
    WHERE t.measurements > 0 AND NOT t.paused AND t.gone_at IS NULL AND t.created_at IS NOT NULL
) of
GROUP BY tier, floor(2 * log(2, age::numeric)), floor(2 * log(2, growth::numeric))
