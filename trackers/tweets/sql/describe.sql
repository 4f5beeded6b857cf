-- ANY(ARRAY): by the primary key, whatever the statistics say (see claim.sql of jobs).
WITH told AS MATERIALIZED (
    SELECT * FROM unnest(
        %(ids)s::bigint[], %(authors)s::bigint[], %(created_at)s::timestamptz[],
        %(texts)s::text[], %(langs)s::text[], %(histories)s::text[], %(usernames)s::text[],
        %(withheld)s::text[], %(conversations)s::bigint[], %(replied_to)s::bigint[],
        %(quoted)s::bigint[], %(retweeted)s::bigint[], %(media)s::text[],
        %(entities)s::text[]
    ) AS told(id, author_id, created_at, text, lang, history, username, withheld,
              conversation_id, replied_to, quoted, retweeted, media, entities)
),
-- In the order of ids: two workers that meet the same new authors do not deadlock.
authors AS (
    INSERT INTO trackers_author (id, username, name, protected)
    SELECT author_id, max(username), '', false FROM told
    WHERE author_id IS NOT NULL GROUP BY author_id ORDER BY author_id
    ON CONFLICT (id) DO UPDATE SET username = excluded.username
    WHERE excluded.username <> '' AND trackers_author.username <> excluded.username
),
-- Locks: the tweets, in the order of ids, in which they come.
held AS MATERIALIZED (
    SELECT told.id, told.author_id, told.created_at, told.withheld
    FROM told CROSS JOIN LATERAL (
        SELECT FROM trackers_tweet WHERE id = told.id FOR NO KEY UPDATE
    ) t
),
tweets AS (
    UPDATE trackers_tweet t
    SET author_id = coalesce(held.author_id, t.author_id),
        created_at = coalesce(held.created_at, t.created_at), withheld = held.withheld
    FROM held WHERE t.id = ANY(ARRAY[held.id])
    RETURNING t.id
),
uncounted AS ({uncounted}),
newcomers AS ({newcomers})
INSERT INTO trackers_tweettext (tweet_id, text, lang, edit_history, conversation_id,
                                replied_to, quoted, retweeted, media_keys, kind,
                                hashtags, cashtags, mentions, domains, links)
SELECT posted.id, posted.text, posted.lang, posted.history::bigint[], posted.conversation_id,
       posted.replied_to, posted.quoted, posted.retweeted, posted.media::text[],
       trackers_kind_v1(posted.id, posted.conversation_id, posted.history::bigint[],
                        posted.replied_to, posted.quoted, posted.retweeted, posted.media::text[],
                        posted.text),
       entities.*
FROM told AS posted JOIN tweets ON tweets.id = posted.id CROSS JOIN LATERAL {entities}
WHERE posted.text IS NOT NULL
ON CONFLICT (tweet_id) DO UPDATE
SET text = excluded.text, lang = excluded.lang, edit_history = excluded.edit_history,
    -- These never change, and one of X's vocabularies is without them (xapi.vocabulary).
    conversation_id = coalesce(excluded.conversation_id, trackers_tweettext.conversation_id),
    replied_to = coalesce(excluded.replied_to, trackers_tweettext.replied_to),
    quoted = coalesce(excluded.quoted, trackers_tweettext.quoted),
    retweeted = coalesce(excluded.retweeted, trackers_tweettext.retweeted),
    media_keys = excluded.media_keys,
    kind = trackers_kind_v1(
        excluded.tweet_id,
        coalesce(excluded.conversation_id, trackers_tweettext.conversation_id),
        excluded.edit_history,
        coalesce(excluded.replied_to, trackers_tweettext.replied_to),
        coalesce(excluded.quoted, trackers_tweettext.quoted),
        coalesce(excluded.retweeted, trackers_tweettext.retweeted),
        excluded.media_keys, excluded.text),
    -- They go with the text: a file or a look-up may have the same text without them.
    hashtags = coalesce(excluded.hashtags, CASE WHEN trackers_tweettext.text = excluded.text
        THEN trackers_tweettext.hashtags END),
    cashtags = coalesce(excluded.cashtags, CASE WHEN trackers_tweettext.text = excluded.text
        THEN trackers_tweettext.cashtags END),
    mentions = coalesce(excluded.mentions, CASE WHEN trackers_tweettext.text = excluded.text
        THEN trackers_tweettext.mentions END),
    domains = coalesce(excluded.domains, CASE WHEN trackers_tweettext.text = excluded.text
        THEN trackers_tweettext.domains END),
    links = coalesce(excluded.links, CASE WHEN trackers_tweettext.text = excluded.text
        THEN trackers_tweettext.links END)
