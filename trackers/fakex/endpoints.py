"""The endpoints of X which there are here, and a request to one of them."""

from __future__ import annotations

from dataclasses import dataclass

TWEETS, USERS, USERS_BY = "GET /2/tweets", "GET /2/users", "GET /2/users/by"
LOOKUP = "GET /1.1/statuses/lookup"
USAGE, TOKEN = "GET /2/usage/tweets", "POST /2/oauth2/token"
ROUTES = {
    ("GET", "/2/tweets"): TWEETS,
    ("GET", "/2/users"): USERS,
    ("GET", "/2/users/by"): USERS_BY,
    ("GET", "/1.1/statuses/lookup.json"): LOOKUP,
    ("POST", "/1.1/statuses/lookup.json"): LOOKUP,
    ("GET", "/2/usage/tweets"): USAGE,
    ("POST", "/2/oauth2/token"): TOKEN,
}


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request to X; `target` is path and query, `form` a POST's urlencoded body."""

    method: str
    endpoint: str
    target: str
    query: str
    authorization: str | None
    form: str = ""
