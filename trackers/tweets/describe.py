"""What does not change with the minutes: a tweet's author, birth and text."""

from __future__ import annotations

from collections.abc import Sequence

from trackers.xapi.answers import Post
from tweetwatch.database import cursor

# Authors in the order of ids: two workers that meet the same new authors do not wait crosswise.
DESCRIBE = """
    WITH told AS MATERIALIZED (
        SELECT * FROM unnest(
            %(ids)s::bigint[], %(authors)s::bigint[], %(created_at)s::timestamptz[],
            %(texts)s::text[], %(langs)s::text[], %(histories)s::text[], %(usernames)s::text[]
        ) AS told(id, author_id, created_at, text, lang, history, username)
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
            created_at = coalesce(told.created_at, t.created_at)
        FROM told WHERE t.id = told.id
        RETURNING t.id
    )
    INSERT INTO trackers_tweettext (tweet_id, text, lang, edit_history)
    SELECT told.id, told.text, told.lang, told.history::bigint[]
    FROM told JOIN tweets ON tweets.id = told.id WHERE told.text IS NOT NULL
    ON CONFLICT (tweet_id) DO UPDATE
    SET text = excluded.text, lang = excluded.lang, edit_history = excluded.edit_history
"""


def describe(posts: Sequence[Post]) -> None:
    """Write what X told of tracked tweets; of the others nothing is kept."""
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
            },
        )
