-- Their events, while somebody subscribes ({tweets}, {milestones}: the topics' ids, if so). A tweet
-- that was gone gets a `create`, and nothing for metrics from before ({unless_gone}); first metrics
-- are not a change.
{topic},
-- {t}: later than in all earlier events of the tweet; in that of its creation it is `tracked_at`.
news AS MATERIALIZED (
    SELECT id, CASE WHEN gone_at IS NULL THEN 'update' ELSE 'create' END AS type, {t} AS t,
           ARRAY[retweets, replies, likes, quotes, bookmarks, views,
                 rt, re, li, qu, bo, vi]::bigint[] AS f
    FROM recorded
    WHERE (({tweets}) IS NOT NULL OR {are_kept}) AND NOT belated {unless_gone}
      AND (changed AND measurements > 0 OR gone_at IS NOT NULL)
),
{passed},
-- Ids are drawn while the tweets are locked, so the events of one tweet have ascending ids.
-- {more}: further events of the statement.
told AS (
    INSERT INTO trackers_event (topic_id, type, t, tweet_id, figures, data)
    SELECT ({tweets}), type, t, id, f, NULL::jsonb FROM news WHERE ({tweets}) IS NOT NULL
    UNION ALL
    SELECT ({milestones}), 'create', t, tweet_id, NULL,
           jsonb_build_object('metric', metric, 'at', at, 'value', figure)
    FROM passed
    {more}
    RETURNING id
),
{staged}
