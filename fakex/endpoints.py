"""The endpoints of X that exist here, and a request to one of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

TWEETS, USERS, USERS_BY = "GET /2/tweets", "GET /2/users", "GET /2/users/by"
LOOKUP = "GET /1.1/statuses/lookup"
USAGE, TOKEN = "GET /2/usage/tweets", "POST /2/oauth2/token"
CREDITS = "GET /2/usage/credits"
TWEET, USER, ME = "GET /2/tweets/:id", "GET /2/users/:id", "GET /2/users/me"
USERNAME = "GET /2/users/by/username/:username"
USER_TWEETS, MENTIONS = "GET /2/users/:id/tweets", "GET /2/users/:id/mentions"
SEARCH, LIST_TWEETS = "GET /2/tweets/search/recent", "GET /2/lists/:id/tweets"
SEARCH_ALL, LIST = "GET /2/tweets/search/all", "GET /2/lists/:id"
COUNTS, ALL_COUNTS = "GET /2/tweets/counts/recent", "GET /2/tweets/counts/all"
STREAM, RULES = "GET /2/tweets/search/stream", "GET /2/tweets/search/stream/rules"
CHANGE_RULES = "POST /2/tweets/search/stream/rules"
RULE_COUNTS = "GET /2/tweets/search/stream/rules/counts"
CONNECTIONS, END_CONNECTIONS = "GET /2/connections", "DELETE /2/connections"
# What a user must have allowed: `OAuth2UserToken` of OpenAPI 2.167 (2026-08-22).
_READING = frozenset({"tweet.read", "users.read"})
SCOPES = dict.fromkeys(
    (TWEETS, TWEET, USERS, USER, ME, USERS_BY, USERNAME, USER_TWEETS, MENTIONS, SEARCH), _READING
) | dict.fromkeys((LIST, LIST_TWEETS), _READING | {"list.read"})
# Which tokens an endpoint takes, where not all: `security` of OpenAPI 2.166 (2026-08-07). 2.167 has
# OAuth 2.0 users for recent counts besides; the table of limits of the same day has only apps.
APP_ONLY = frozenset(
    {
        USAGE,
        STREAM,
        RULES,
        CHANGE_RULES,
        RULE_COUNTS,
        CONNECTIONS,
        END_CONNECTIONS,
        SEARCH_ALL,
        COUNTS,
        ALL_COUNTS,
    }
)
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
    ("GET", "/2/tweets/search/all"): SEARCH_ALL,
    ("GET", "/2/tweets/counts/recent"): COUNTS,
    ("GET", "/2/tweets/counts/all"): ALL_COUNTS,
    ("GET", "/2/users/me"): ME,
    ("GET", "/2/tweets/search/stream"): STREAM,
    ("GET", "/2/tweets/search/stream/rules/counts"): RULE_COUNTS,
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
    (re.compile(r"/2/lists/([^/]+)\Z"), LIST),
    (re.compile(r"/2/tweets/([^/]+)\Z"), TWEET),
    (re.compile(r"/2/users/([^/]+)\Z"), USER),
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
