-- The tweets of a year and what is counted of them, as of one moment; the difference is added as a
-- row, so no lock is needed: what others change meanwhile adds rows of its own.
WITH counted AS MATERIALIZED (
    SELECT trackers_presence_v1(missing_reason, paid_on) AS presence, count(*) AS tweets
    FROM trackers_tweet WHERE id >= %(first)s AND id < %(beyond)s
    GROUP BY 1
),
kept AS MATERIALIZED (
    SELECT presence, sum(tweets) AS tweets FROM trackers_presencecount
    WHERE year = %(year)s GROUP BY 1
),
wrong AS MATERIALIZED (
    SELECT presence, coalesce(counted.tweets, 0) - coalesce(kept.tweets, 0) AS difference
    FROM counted FULL JOIN kept USING (presence)
    WHERE coalesce(counted.tweets, 0) <> coalesce(kept.tweets, 0)
),
added AS (
    INSERT INTO trackers_presencecount (year, presence, tweets)
    SELECT %(year)s, presence, difference FROM wrong
)
SELECT presence, difference::bigint FROM wrong ORDER BY presence
