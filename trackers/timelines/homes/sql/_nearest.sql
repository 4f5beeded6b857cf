-- What was found next to the anchor, and whether it is shown. Tweets that are untracked or gone are
-- not shown, but are returned all the same: the caller must know where to continue.
SELECT nearest.id, tweet.is_shown IS TRUE
FROM (SELECT id FROM found ORDER BY id {order} LIMIT %(limit)s::int) nearest
LEFT JOIN LATERAL (
    SELECT gone_at IS NULL AS is_shown FROM trackers_tweet WHERE id = nearest.id LIMIT 1
) tweet ON true
ORDER BY nearest.id {order}
