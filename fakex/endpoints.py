"""The endpoints of X that exist here, and a request to one of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

TWEETS, USERS, USERS_BY = "GET /2/tweets", "GET /2/users", "GET /2/users/by"
LOOKUP = "GET /1.1/statuses/lookup"
USAGE, TOKEN = "GET /2/usage/tweets", "POST /2/oauth2/token"
CREDITS = "GET /2/usage/credits"
USERNAME = "GET /2/users/by/username/:username"
USER_TWEETS, MENTIONS = "GET /2/users/:id/tweets", "GET /2/users/:id/mentions"
SEARCH, LIST_TWEETS = "GET /2/tweets/search/recent", "GET /2/lists/:id/tweets"
STREAM, RULES = "GET /2/tweets/search/stream", "GET /2/tweets/search/stream/rules"
CHANGE_RULES = "POST /2/tweets/search/stream/rules"
CONNECTIONS, END_CONNECTIONS = "GET /2/connections", "DELETE /2/connections"
# What a user must have allowed: `OAuth2UserToken` of OpenAPI 2.167 (2026-08-22).
_READING = frozenset({"tweet.read", "users.read"})
SCOPES = dict.fromkeys(
    (TWEETS, USERS, USERS_BY, USERNAME, USER_TWEETS, MENTIONS, SEARCH), _READING
) | {LIST_TWEETS: _READING | {"list.read"}}
_ROUTES = {
    ("GET", "/2/tweets"): TWEETS,
    ("GET", "/2/users"): USERS,
    ("GET", "/2/users/by"): USERS_BY,
    ("GET", "/1.1/statuses/lookup.json"): LOOKUP,
    ("POST", "/1.1/statuses/lookup.json"): LOOKUP,
    ("GET", "/2/usage/tweets"): USAGE,
    ("GET", "/2/usage/credits"): CREDITS,
    ("POST", "/2/oauth2/token"): TOKEN,
    ("GET", "/2/tweets/search/recent"): SEARCH,
    ("GET", "/2/tweets/search/stream"): STREAM,
    ("GET", "/2/tweets/search/stream/rules"): RULES,
    ("POST", "/2/tweets/search/stream/rules"): CHANGE_RULES,
    ("GET", "/2/connections"): CONNECTIONS,
    ("DELETE", "/2/connections"): END_CONNECTIONS,
}
# Paths with a subject in them, which the group captures.
_NAMED = (
    (re.compile(r"/2/users/by/username/([^/]+)\Z"), USERNAME),
    (re.compile(r"/2/users/([^/]+)/tweets\Z"), USER_TWEETS),
    (re.compile(r"/2/users/([^/]+)/mentions\Z"), MENTIONS),
    (re.compile(r"/2/lists/([^/]+)/tweets\Z"), LIST_TWEETS),
)


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request to X."""

    method: str
    endpoint: str
    target: str  # path and query
    query: str
    authorization: str | None
    form: str = ""  # the body of a POST or a DELETE
    subject: str = ""  # the id or name in the path
    origin: str = ""  # scheme and host of the request


def find_endpoint(method: str, path: str) -> tuple[str, str] | None:
    """The endpoint and the subject that the path names, or None when X has no such path."""
    endpoint = _ROUTES.get((method, path))
    if endpoint is not None:
        return endpoint, ""
    if method != "GET":
        return None
    for pattern, named in _NAMED:
        if found := pattern.match(path):
            return named, found[1]
    return None
