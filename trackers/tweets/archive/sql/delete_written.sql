-- A row goes only while its arrays have the length that was written: what is packed late is appended.
-- In the order of ids, as whoever untracks them. Locked rows are passed as an array: for a join the
-- planner would read the whole table.
DELETE FROM trackers_packedsamples WHERE ctid = ANY(ARRAY(
    SELECT held.ctid
    FROM unnest(%(ids)s::bigint[], %(lengths)s::int[]) AS written(tweet_id, length)
    CROSS JOIN LATERAL (
        SELECT ctid FROM trackers_packedsamples p
        WHERE p.tweet_id = written.tweet_id AND p.month = %(month)s
          AND cardinality(p.taken_at) = written.length
        FOR UPDATE
    ) AS held))
