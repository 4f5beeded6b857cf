-- What the next tweets had at ages of which nothing is known yet, from their samples. Of equal
-- measurements only the first and the last time are kept: those between are taken as even.
WITH piece AS MATERIALIZED (
    SELECT id, coalesce(created_at, trackers_born_at_v1(id)) AS born
    FROM trackers_tweet WHERE id > %(after)s AND measurements > 0
    ORDER BY id LIMIT %(most)s
),
-- By their keys, whatever the statistics say.
known AS MATERIALIZED (
    SELECT id, coalesce((
        SELECT ages FROM trackers_packedcheckpoints WHERE tweet_id = piece.id LIMIT 1
    ), '{{}}') || ARRAY(
        SELECT age FROM trackers_checkpoint WHERE tweet_id = piece.id OFFSET 0) AS ages
    FROM piece
),
runs AS MATERIALIZED (
    SELECT r.tweet_id, r.measurements, r.retweets, r.replies, r.likes, r.quotes, r.bookmarks, r.views,
           date_part('epoch', r.taken_at - born) AS began,
           date_part('epoch', r.measured_until - born) AS ended
    FROM piece CROSS JOIN LATERAL (
        SELECT * FROM ({every_run}) AS every_run WHERE tweet_id = piece.id OFFSET 0
    ) r
),
-- From each run to the next, and within each.
stretches AS (
    SELECT tweet_id, ended AS early, lead(began) OVER later AS late, 0 AS gap,
           ARRAY[retweets, replies, likes, quotes, bookmarks, views]::bigint[] AS low,
           lead(ARRAY[retweets, replies, likes, quotes, bookmarks, views]::bigint[])
               OVER later AS high
    FROM runs WINDOW later AS (PARTITION BY tweet_id ORDER BY began)
    UNION ALL
    SELECT tweet_id, began, ended, (ended - began) / (measurements - 1), counts, counts
    FROM runs CROSS JOIN LATERAL (
        SELECT ARRAY[retweets, replies, likes, quotes, bookmarks, views]::bigint[] AS counts
    ) c WHERE measurements > 1
),
at_ages AS (
    SELECT s.tweet_id, a.place, s.low, s.high, (a.seconds - early) / (late - early) AS share
    FROM stretches s
    CROSS JOIN unnest({ages}::float8[]) WITH ORDINALITY AS a(seconds, place)
    WHERE a.seconds > early AND a.seconds <= late
      AND CASE gap WHEN 0 THEN early ELSE greatest(early, a.seconds - gap) END * {factor} >= a.seconds
      AND CASE gap WHEN 0 THEN late ELSE least(late, a.seconds + gap) END <= a.seconds * {factor}
      AND NOT EXISTS (SELECT FROM known WHERE known.id = s.tweet_id AND a.place = ANY(known.ages))
),
filled AS (
    SELECT tweet_id, place AS age, {counts} FROM at_ages
),
-- In the order of tweets, as the packer.
stored AS (
    INSERT INTO trackers_packedcheckpoints AS packed
        (tweet_id, ages, retweets, replies, likes, quotes, bookmarks, views)
    SELECT tweet_id, array_agg(age ORDER BY age), {arrays}
    FROM filled GROUP BY tweet_id ORDER BY tweet_id
    ON CONFLICT (tweet_id) DO UPDATE SET
        ages = packed.ages || excluded.ages, {appended}
),
-- As a save says it: what is usual is worked out again.
crossed AS (
    INSERT INTO trackers_crossedages (ids, ages)
    SELECT array_agg(tweet_id), array_agg(age::smallint) FROM filled HAVING count(*) > 0
)
SELECT (SELECT max(id) FROM piece), (SELECT count(*) FROM piece), (SELECT count(*) FROM filled)
