-- Measurements whose caller has no job as a fence: a poll, an import.
WITH measured AS MATERIALIZED (
    SELECT m.*, %(paid_on)s::date AS paid_on, %(paid_by)s::int AS paid_by FROM unnest(
        %(ids)s::bigint[], %(at)s::timestamptz[], %(hole_after)s::interval[],
        %(retweets)s::int[], %(replies)s::int[], %(likes)s::int[], %(quotes)s::int[],
        %(bookmarks)s::int[], %(views)s::bigint[]
    ) AS m(tweet_id, at, hole_after, rt, re, li, qu, bo, vi)
),
{record}
SELECT b.id, b.at, b.measurements > 0,
       b.retweets, b.replies, b.likes, b.quotes, b.bookmarks, b.views,
       b.rt, b.re, b.li, b.qu, b.bo, b.vi
FROM recorded b WHERE b.changed AND NOT b.belated
