-- Write to the tweets when a change ranks them again; without values: the next one does.
-- Locks: the tweets' rows, in the order of ids. One that has reached its values meanwhile is noted
-- here, since the save that raised it could not know them.
WITH next AS MATERIALIZED (
    SELECT n.*, t.* FROM (
        SELECT * FROM unnest(
            %(ids)s::bigint[], %(retweets)s::int[], %(replies)s::int[], %(likes)s::int[],
            %(quotes)s::int[], %(bookmarks)s::int[], %(views)s::int[]
        ) AS n(id, rt, re, li, qu, bo, vi) ORDER BY id
    ) n CROSS JOIN LATERAL (
        SELECT retweets, replies, likes, quotes, bookmarks, views FROM trackers_tweet
        WHERE id = ANY(ARRAY[n.id]) FOR NO KEY UPDATE
    ) t
),
reached AS (
    INSERT INTO trackers_changed (ids)
    SELECT array_agg(id) FROM next
    WHERE retweets >= rt OR replies >= re OR likes >= li OR quotes >= qu OR bookmarks >= bo
       OR views >= vi
    HAVING count(*) > 0
)
UPDATE trackers_tweet t
SET ranked_at_retweets = n.rt, ranked_at_replies = n.re, ranked_at_likes = n.li,
    ranked_at_quotes = n.qu, ranked_at_bookmarks = n.bo, ranked_at_views = n.vi,
    -- Not of all at once.
    ranked_again_at = CASE WHEN n.rt IS NOT NULL THEN
        %(now)s::timestamptz + %(again_after)s::interval * (0.75 + 0.25 * random()) END
FROM next n WHERE t.id = ANY(ARRAY[n.id])
