-- A row is only ever inserted or deleted, so a ctid stays valid; inserting the same yield meanwhile
-- waits for the commit.
WITH
-- Uses the index `sourcetweet_seen`, from where the last piece ended. WITH TIES: the yields of one
-- transaction have the same time, and none of them may be left behind.
old AS MATERIALIZED (
    SELECT ctid AS place, source_id, tweet_id, seen_at FROM trackers_sourcetweet
    WHERE NOT late AND seen_at > %(after)s::timestamptz AND seen_at < %(before)s
    ORDER BY seen_at FETCH FIRST 5000 ROWS WITH TIES
),
-- The newest hundred of a source stay, however old: they are one page, which a list shows again.
kept AS MATERIALIZED (
    SELECT source_id, (SELECT tweet_id FROM trackers_sourcetweet newest
                       WHERE newest.source_id = of.source_id
                       ORDER BY tweet_id DESC OFFSET 99 LIMIT 1) AS from_id
    FROM (SELECT DISTINCT source_id FROM old) of
),
gone AS (
    DELETE FROM trackers_sourcetweet WHERE ctid = ANY(ARRAY(
        SELECT place FROM old JOIN kept USING (source_id) WHERE old.tweet_id < kept.from_id))
    RETURNING tweet_id
),
uncounted AS ({uncounted})
SELECT (SELECT max(seen_at) FROM old), (SELECT count(*) FROM gone)
