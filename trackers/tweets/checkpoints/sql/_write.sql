-- What tweets had at the ages that they have just crossed: in a straight line between this
-- measurement and the one before, if both are near enough to say it.
checkpoints AS (
    INSERT INTO trackers_checkpoint (
        tweet_id, age, crossed_at, retweets, replies, likes, quotes, bookmarks, views)
    SELECT r.id, a.place, r.at, trackers_count_between_v1(r.retweets, r.rt, s.share)::int,
           trackers_count_between_v1(r.replies, r.re, s.share)::int,
           trackers_count_between_v1(r.likes, r.li, s.share)::int,
           trackers_count_between_v1(r.quotes, r.qu, s.share)::int,
           trackers_count_between_v1(r.bookmarks, r.bo, s.share)::int,
           trackers_count_between_v1(r.views, r.vi, s.share)
    FROM recorded r
    CROSS JOIN LATERAL (
        SELECT date_part('epoch', r.at - born) AS age,
               date_part('epoch', r.measured_until - born) AS last_age
        FROM (SELECT coalesce(r.created_at, trackers_born_at_v1(r.id)) AS born OFFSET 0) b OFFSET 0
    ) o
    CROSS JOIN unnest({ages}::float8[]) WITH ORDINALITY AS a(seconds, place)
    CROSS JOIN LATERAL (
        SELECT (a.seconds - o.last_age) / (o.age - o.last_age) AS share
        WHERE a.seconds > o.last_age AND a.seconds <= o.age
          AND o.last_age * {factor} >= a.seconds AND o.age <= a.seconds * {factor}
    ) s
    WHERE r.crosses
    RETURNING tweet_id, age
),
-- One row of a table without WAL.
crossed_ages AS (
    INSERT INTO trackers_crossedages (ids, ages)
    SELECT array_agg(tweet_id), array_agg(age) FROM checkpoints HAVING count(*) > 0
)
