"""X's endpoints by the names under which their windows are kept, per version of the API.

Each mapping says which API versions serve a call, and the window it counts against in each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

LOOKUP_BY_IDS: Mapping[str, str] = {"v2": "GET /2/tweets", "v1.1": "GET /1.1/statuses/lookup"}
ACCOUNTS: Mapping[str, str] = {"v2": "GET /2/users"}
USERNAMES: Mapping[str, str] = {"v2": "GET /2/users/by"}
ACCOUNT_POSTS: Mapping[str, str] = {"v2": "GET /2/users/:id/tweets"}
MENTIONS: Mapping[str, str] = {"v2": "GET /2/users/:id/mentions"}
SEARCH: Mapping[str, str] = {"v2": "GET /2/tweets/search/recent"}
# Bearer tokens only, and of plans that have it.
ARCHIVE: Mapping[str, str] = {"v2": "GET /2/tweets/search/all"}
# Bearer tokens only (2.166, and the table of limits of 2026-08-22); each request is billed.
COUNTS: Mapping[str, str] = {"v2": "GET /2/tweets/counts/recent"}
# The same, and of plans that have the archive.
ARCHIVE_COUNTS: Mapping[str, str] = {"v2": "GET /2/tweets/counts/all"}
LIST_POSTS: Mapping[str, str] = {"v2": "GET /2/lists/:id/tweets"}
# Bearer tokens only, and free.
USAGE_COUNT: Mapping[str, str] = {"v2": "GET /2/usage/tweets"}
# Published on 2026-08-24, within OpenAPI 2.167; X answered an empty 404 to some in September.
CREDITS: Mapping[str, str] = {"v2": "GET /2/usage/credits"}
# Bearer tokens only: connecting to the stream, reading its rules, and changing them.
STREAM: Mapping[str, str] = {"v2": "GET /2/tweets/search/stream"}
STREAM_RULES: Mapping[str, str] = {"v2": "GET /2/tweets/search/stream/rules"}
CHANGE_STREAM_RULES: Mapping[str, str] = {"v2": "POST /2/tweets/search/stream/rules"}
# Bearer tokens only: the connections of an app's streams, and ending some of them.
CONNECTIONS: Mapping[str, str] = {"v2": "GET /2/connections"}
END_CONNECTIONS: Mapping[str, str] = {"v2": "DELETE /2/connections"}

_FOR_APPS = frozenset({ARCHIVE["v2"], COUNTS["v2"], ARCHIVE_COUNTS["v2"]})
# "1/sec, 300/15min" (x-api/fundamentals/rate-limits, 2026-08-22): no header tells of the second.
_ONE_A_SECOND = frozenset({ARCHIVE["v2"]})
# "Available to pay-per-use and Enterprise customers" (x-api/posts/search/introduction, and
# x-api/posts/counts/introduction; 2026-08-22).
_OF_A_PLAN = frozenset({ARCHIVE["v2"], ARCHIVE_COUNTS["v2"]})

# What a user has to allow, by X's OpenAPI document (2.167, 2026-08-22): `OAuth2UserToken` of the
# operations above. Endpoints for bearer tokens only have none.
_READING = frozenset({"tweet.read", "users.read"})
_SCOPES: Mapping[str, frozenset[str]] = {LIST_POSTS["v2"]: _READING | {"list.read"}} | {
    endpoint["v2"]: _READING
    for endpoint in (LOOKUP_BY_IDS, ACCOUNTS, USERNAMES, ACCOUNT_POSTS, MENTIONS, SEARCH)
}
# All that sign-in asks for: what the endpoints need, and a refresh token to keep reading.
SIGN_IN_SCOPES = ("tweet.read", "users.read", "list.read", "offline.access")


def scopes_for(endpoint_of: Mapping[str, str]) -> list[str]:
    """What a user must have allowed for a call; only tokens of the v2 API have scopes."""
    return sorted(_SCOPES.get(endpoint_of.get("v2", ""), ()))


def is_for_apps(endpoint_of: Mapping[str, str]) -> bool:
    """Whether X takes only bearer tokens for a call."""
    return endpoint_of.get("v2") in _FOR_APPS


def takes_one_a_second(endpoint_of: Mapping[str, str]) -> bool:
    """Whether X answers an app only once in a second, besides its window."""
    return endpoint_of.get("v2") in _ONE_A_SECOND


def is_of_a_plan(endpoint: str | None) -> bool:
    """Whether only some plans have an endpoint, so that a 403 there lasts as long as the plan."""
    return endpoint in _OF_A_PLAN


def endpoints_closed_to(scopes: Iterable[str]) -> dict[str, list[str]]:
    """For each endpoint that needs more than these, what is missing."""
    missing = {endpoint: sorted(needed - {*scopes}) for endpoint, needed in _SCOPES.items()}
    return {endpoint: names for endpoint, names in missing.items() if names}


# A field of users that we use; it is free, as are those of posts (`vocabulary`).
USER_FIELDS = ["protected"]
