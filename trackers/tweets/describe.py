"""What rarely changes between look-ups: a tweet's author, time of posting and text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trackers.xapi.results import Post
from tweetwatch.database import cursor

# Authors in the order of ids: two workers that meet the same new authors do not deadlock.
# ANY(ARRAY): by the primary key, whatever the statistics say (see CLAIM in jobs).
DESCRIBE = """
    WITH told AS MATERIALIZED (
        SELECT * FROM unnest(
            %(ids)s::bigint[], %(authors)s::bigint[], %(created_at)s::timestamptz[],
            %(texts)s::text[], %(langs)s::text[], %(histories)s::text[], %(usernames)s::text[],
            %(withheld)s::text[], %(conversations)s::bigint[], %(replied_to)s::bigint[],
            %(quoted)s::bigint[], %(retweeted)s::bigint[], %(media)s::text[]
        ) AS told(id, author_id, created_at, text, lang, history, username, withheld,
                  conversation_id, replied_to, quoted, retweeted, media)
    ),
    authors AS (
        INSERT INTO trackers_author (id, username, name, protected)
        SELECT author_id, max(username), '', false FROM told
        WHERE author_id IS NOT NULL GROUP BY author_id ORDER BY author_id
        ON CONFLICT (id) DO UPDATE SET username = excluded.username
        WHERE excluded.username <> '' AND trackers_author.username <> excluded.username
    ),
    tweets AS (
        UPDATE trackers_tweet t
        SET author_id = coalesce(told.author_id, t.author_id),
            created_at = coalesce(told.created_at, t.created_at), withheld = told.withheld
        FROM told WHERE t.id = ANY(ARRAY[told.id])
        RETURNING t.id
    )
    INSERT INTO trackers_tweettext (tweet_id, text, lang, edit_history, conversation_id,
                                    replied_to, quoted, retweeted, media_keys)
    SELECT told.id, told.text, told.lang, told.history::bigint[], told.conversation_id,
           told.replied_to, told.quoted, told.retweeted, told.media::text[]
    FROM told JOIN tweets ON tweets.id = told.id WHERE told.text IS NOT NULL
    ON CONFLICT (tweet_id) DO UPDATE
    SET text = excluded.text, lang = excluded.lang, edit_history = excluded.edit_history,
        conversation_id = excluded.conversation_id, replied_to = excluded.replied_to,
        quoted = excluded.quoted, retweeted = excluded.retweeted, media_keys = excluded.media_keys
"""

# Locks: the tweets, in the order of ids, as everywhere.
WITHHOLD = """
    UPDATE trackers_tweet t SET withheld = told.withheld
    FROM (
        SELECT locked.id, asked.withheld
        FROM unnest(%(ids)s::bigint[], %(withheld)s::text[]) AS asked(id, withheld)
        CROSS JOIN LATERAL (
            SELECT id FROM trackers_tweet WHERE id = asked.id FOR UPDATE
        ) locked
    ) told
    WHERE t.id = ANY(%(ids)s::bigint[]) AND t.id = told.id
"""


def withhold(told: Mapping[int, str]) -> None:
    """Store where X withholds these tweets now; empty: nowhere."""
    ids = sorted(told)
    with cursor() as db:
        db.execute(WITHHOLD, {"ids": ids, "withheld": [told[id] for id in ids]})


def describe(posts: Sequence[Post]) -> None:
    """Store what X said about tracked tweets; posts that are not tracked are ignored."""
    if not posts:
        return
    ordered = sorted(posts, key=lambda post: post.id)
    with cursor() as db:
        db.execute(
            DESCRIBE,
            {
                "ids": [post.id for post in ordered],
                "authors": [post.author_id for post in ordered],
                "created_at": [post.created_at for post in ordered],
                # Postgres has no NUL in text.
                "texts": [post.text and post.text.replace("\0", "") for post in ordered],
                "langs": [post.lang[:10] for post in ordered],
                "histories": ["{%s}" % ",".join(map(str, post.edit_history)) for post in ordered],  # noqa: UP031
                "usernames": [post.username for post in ordered],
                "withheld": [post.withheld for post in ordered],
                "conversations": [post.conversation_id for post in ordered],
                "replied_to": [post.replied_to for post in ordered],
                "quoted": [post.quoted for post in ordered],
                "retweeted": [post.retweeted for post in ordered],
                # Only digits and underscores (read_context): nothing to quote in an array.
                "media": [media_of(post) for post in ordered],
            },
        )


def media_of(post: Post) -> str | None:
    return "{%s}" % ",".join(post.media_keys) if post.media_keys else None  # noqa: UP031
