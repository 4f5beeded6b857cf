-- The pace after a measurement `m` of a tweet `t`: from its id until X has said when it was posted.
-- The rule uses a tweet's ages at this measurement and at the one before a dozen times. OFFSET
-- keeps the planner from computing them each time. By date_part, as in all that a save computes for
-- each tweet: extract gives numeric, and converting that to float8 takes ten times as long as the
-- rest of an age.
(
    SELECT trackers_pace_v1(
        o.age, o.last_age, t.pace, m.vi, m.li, m.rt, t.views, t.likes, t.retweets)
    FROM (
        SELECT date_part('epoch', m.at - born) AS age,
               -- Not if that one is from a clock that was ahead.
               CASE WHEN t.measurements > 0 AND m.at >= t.measured_until
                    THEN date_part('epoch', t.measured_until - born) END AS last_age
        FROM (
            SELECT coalesce(t.created_at, trackers_born_at_v1(t.id)) AS born OFFSET 0
        ) b OFFSET 0
    ) o
)
