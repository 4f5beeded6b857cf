"""X's endpoints by the names under which their windows are kept, per version of the API.

A mapping says which credentials may serve a call, and in which window each of them then counts.
"""

from __future__ import annotations

from collections.abc import Mapping

TWEETS: Mapping[str, str] = {"v2": "GET /2/tweets", "v1.1": "GET /1.1/statuses/lookup"}
ACCOUNTS: Mapping[str, str] = {"v2": "GET /2/users"}
USERNAMES: Mapping[str, str] = {"v2": "GET /2/users/by"}
ACCOUNT_POSTS: Mapping[str, str] = {"v2": "GET /2/users/:id/tweets"}
MENTIONS: Mapping[str, str] = {"v2": "GET /2/users/:id/mentions"}
SEARCH: Mapping[str, str] = {"v2": "GET /2/tweets/search/recent"}
LIST_POSTS: Mapping[str, str] = {"v2": "GET /2/lists/:id/tweets"}
# For bearer tokens alone, and free.
USAGE: Mapping[str, str] = {"v2": "GET /2/usage/tweets"}
# For bearer tokens alone: connecting to the stream, its rules, and changing them.
STREAM: Mapping[str, str] = {"v2": "GET /2/tweets/search/stream"}
STREAM_RULES: Mapping[str, str] = {"v2": "GET /2/tweets/search/stream/rules"}
CHANGE_STREAM_RULES: Mapping[str, str] = {"v2": "POST /2/tweets/search/stream/rules"}

# What X is asked to tell; fields cost nothing, an expansion would be billed as a read of its own.
# What can change is asked for with every look: a long text is told only of those that have one, and
# `withheld` only of those that are. The rest, once X told it, does not change.
LOOK_FIELDS = ["public_metrics", "edit_history_tweet_ids", "note_tweet", "withheld"]
POST_FIELDS = [
    *LOOK_FIELDS,
    "created_at",
    "author_id",
    "lang",
    "conversation_id",
    "referenced_tweets",
    "attachments",
]
USER_FIELDS = ["protected"]
