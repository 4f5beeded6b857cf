-- What happened to the tweets that were measured: milestones, and metrics that fell by a tenth and
-- by ten. Few ever do, so it is first asked whether any metric is below what it was.
happened AS (
    INSERT INTO trackers_happening (what, tweet_id, at, figures)
    SELECT CASE WHEN is_own THEN 'figure' ELSE 'milestone' END, tweet_id, to_timestamp(t / 1000.0),
           jsonb_build_object('metric', metric, 'at', at, 'value', figure)
    FROM passed
    UNION ALL
    SELECT 'fell', b.id, b.at,
           jsonb_build_object('metric', m.metric, 'before', m.before, 'after', m.after)
    FROM recorded b CROSS JOIN LATERAL (VALUES
        ('retweets', b.retweets::bigint, b.rt::bigint), ('replies', b.replies, b.re),
        ('likes', b.likes, b.li), ('quotes', b.quotes, b.qu), ('bookmarks', b.bookmarks, b.bo),
        ('views', b.views, b.vi)
    ) AS m(metric, before, after)
    WHERE b.changed AND NOT b.belated AND b.measurements > 0
      AND (b.vi < b.views OR b.li < b.likes OR b.rt < b.retweets OR b.re < b.replies
           OR b.bo < b.bookmarks OR b.qu < b.quotes)
      AND m.after <= m.before - greatest(10, m.before / 10)
    {happened_more}
)
