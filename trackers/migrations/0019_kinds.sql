-- tweets.kinds.kind_of_post, STABLE since array_to_string is: 1 reply, 2 quote, 3 video, 4 photo, 5 link, 6 text; null: a retweet.
CREATE FUNCTION trackers_kind_v1(
    id bigint, conversation_id bigint, edit_history bigint[], replied_to bigint, quoted bigint,
    retweeted bigint, media_keys text[], text text
) RETURNS smallint
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (CASE
    WHEN retweeted IS NOT NULL OR text ^@ 'RT @' THEN NULL
    WHEN replied_to IS NOT NULL
        OR conversation_id <> id AND (conversation_id = ANY(edit_history)) IS NOT TRUE THEN 1
    WHEN quoted IS NOT NULL THEN 2
    WHEN array_to_string(media_keys, ' ') ~ '(^| )(7|13|16)_' THEN 3
    WHEN array_to_string(media_keys, ' ') ~ '(^| )3_' THEN 4
    WHEN text ~* 'https?://' THEN 5
    ELSE 6
END)::smallint;
