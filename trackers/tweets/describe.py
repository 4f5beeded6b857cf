"""What rarely changes between look-ups: a tweet's author, time of posting and text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trackers.tweets.entities import ENTITY_COLUMNS, entities_json
from trackers.tweets.newcomers import noting_newcomers
from trackers.tweets.uncounted import noting_uncounted
from trackers.xapi.results import Post
from tweetwatch.database import cursor
from tweetwatch.statements import statement

_DESCRIBE = statement(
    __file__,
    "describe",
    entities=ENTITY_COLUMNS,
    uncounted=noting_uncounted("SELECT id FROM tweets"),
    newcomers=noting_newcomers("SELECT id FROM tweets"),
)

# Locks: the tweets, in the order of ids, as everywhere.
_WITHHOLD = """
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


def withhold(withheld: Mapping[int, str]) -> None:
    """Store where X withholds these tweets now; empty: nowhere."""
    ids = sorted(withheld)
    with cursor() as db:
        db.execute(_WITHHOLD, {"ids": ids, "withheld": [withheld[id] for id in ids]})


def describe(posts: Sequence[Post]) -> None:
    """Store what X said about tracked tweets; posts that are not tracked are ignored."""
    if not posts:
        return
    ordered = sorted(posts, key=lambda post: post.id)
    with cursor() as db:
        db.execute(
            _DESCRIBE,
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
                "media": [_media_of(post) for post in ordered],
                "entities": [entities_json(post) for post in ordered],
            },
        )


def _media_of(post: Post) -> str | None:
    return "{%s}" % ",".join(post.media_keys) if post.media_keys else None  # noqa: UP031
