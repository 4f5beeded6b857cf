-- Their events, while somebody subscribes ({tweets}, {milestones}: the topics' ids, if so). A tweet
-- that was gone gets a `create`, and nothing for metrics from before ({unless_gone}); first metrics
-- are not a change.
{topic},
-- {t}: later than in all earlier events of the tweet; in that of its creation it is `tracked_at`.
-- `event_id` is drawn while the tweet is locked, so the events of one tweet have ascending ids.
news AS MATERIALIZED (
    SELECT CASE WHEN ({tweets}) IS NOT NULL THEN nextval('trackers_event_id') END AS event_id,
           id, CASE WHEN gone_at IS NULL THEN 'update' ELSE 'create' END AS type, {t} AS t,
           ARRAY[retweets, replies, likes, quotes, bookmarks, views,
                 rt, re, li, qu, bo, vi]::bigint[] AS f
    FROM recorded
    WHERE (({tweets}) IS NOT NULL OR {are_kept}) AND NOT belated {unless_gone}
      AND (changed AND measurements > 0 OR gone_at IS NOT NULL)
),
{passed},
{happened},
-- {more}: further events of the statement. The updates, which are most, are only staged: the spread
-- writes their rows.
told AS (
    INSERT INTO trackers_event (topic_id, type, t, tweet_id, data)
    SELECT ({milestones}), 'create', t, tweet_id,
           jsonb_build_object('metric', metric, 'at', at, 'value', figure)
    FROM passed WHERE NOT is_own
    {more}
    RETURNING id
),
{staged}
