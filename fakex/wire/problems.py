"""Error bodies in X's words: problem+json for v2, `errors` with codes for v1.1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

Problem = dict[str, Any]

_ACCOUNT = 1700000000000000000
_USER_CONTEXTS = "OAuth 1.0a User Context, OAuth 2.0 User Context"
APP_CONTEXT = "OAuth 2.0 Application-Only"

UNAUTHORIZED: Problem = {
    "title": "Unauthorized",
    "type": "about:blank",
    "status": 401,
    "detail": "Unauthorized",
}
TOO_MANY: Problem = {
    "title": "Too Many Requests",
    "detail": "Too Many Requests",
    "type": "about:blank",
    "status": 429,
}
UNAVAILABLE: Problem = {
    "title": "Service Unavailable",
    "detail": "Service Unavailable",
    "type": "about:blank",
    "status": 503,
}
INTERNAL: Problem = {
    "title": "Internal Server Error",
    "detail": "Internal Server Error",
    "type": "about:blank",
    "status": 500,
}
FORBIDDEN: Problem = {
    "title": "Forbidden",
    "detail": "Forbidden",
    "type": "about:blank",
    "status": 403,
}
NOT_FOUND: Problem = {
    "title": "Not Found",
    "detail": "Not Found",
    "type": "about:blank",
    "status": 404,
}


def _kind(name: str, host: str) -> str:
    return f"https://{host}/2/problems/{name}"


def invalid_request(complaints: Sequence[tuple[str, Sequence[str], str]], host: str) -> Problem:
    """A 400: each complaint is (parameter, its values, message)."""
    return {
        "errors": [
            {"parameters": {name: list(values)}, "message": message}
            for name, values, message in complaints
        ],
        "title": "Invalid Request",
        "detail": "One or more parameters to your request was invalid.",
        "type": _kind("invalid-request", host),
    }


def tweet_not_found(tweet_id: str, host: str) -> Problem:
    return {
        "value": tweet_id,
        "detail": f"Could not find tweet with ids: [{tweet_id}].",
        "title": "Not Found Error",
        "resource_type": "tweet",
        "parameter": "ids",
        "resource_id": tweet_id,
        "type": _kind("resource-not-found", host),
    }


def tweet_not_authorized(tweet_id: str, host: str) -> Problem:
    return {
        "resource_id": tweet_id,
        "parameter": "ids",
        "resource_type": "tweet",
        "section": "data",
        "title": "Authorization Error",
        "value": tweet_id,
        "detail": f"Sorry, you are not authorized to see the Tweet with ids: [{tweet_id}].",
        "type": _kind("not-authorized-for-resource", host),
    }


def user_not_found(value: str, parameter: str, host: str) -> Problem:
    return {
        "value": value,
        "detail": f"Could not find user with {parameter}: [{value}].",
        "title": "Not Found Error",
        "resource_type": "user",
        "parameter": parameter,
        "resource_id": value,
        "type": _kind("resource-not-found", host),
    }


def user_suspended(value: str, parameter: str, host: str) -> Problem:
    return {
        "detail": f"User has been suspended: [{value}].",
        "parameter": parameter,
        "resource_id": value,
        "resource_type": "user",
        "title": "Forbidden",
        "type": _kind("resource-not-found", host),
        "value": value,
    }


def user_not_authorized(value: str, parameter: str, host: str) -> Problem:
    return {
        "resource_id": value,
        "parameter": parameter,
        "resource_type": "user",
        "section": "data",
        "title": "Authorization Error",
        "value": value,
        "detail": f"Sorry, you are not authorized to see the user with {parameter}: [{value}].",
        "type": _kind("not-authorized-for-resource", host),
    }


def list_not_found(list_id: str, host: str) -> Problem:
    return {
        "value": list_id,
        "detail": f"Could not find list with id: [{list_id}].",
        "title": "Not Found Error",
        "resource_type": "list",
        "parameter": "id",
        "resource_id": list_id,
        "type": _kind("resource-not-found", host),
    }


def not_enrolled(host: str) -> Problem:
    return {
        "client_id": "10000000",
        "detail": "When authenticating requests to the Twitter API v2 endpoints, you must use keys "
        "and tokens from a Twitter developer App that is attached to a Project. You can create a "
        "project via the developer portal.",
        "registration_url": "https://developer.twitter.com/en/docs/projects/overview",
        "title": "Client Forbidden",
        "required_enrollment": "Appropriate Level of API Access",
        "reason": "client-not-enrolled",
        "type": _kind("client-forbidden", host),
    }


def unsupported_authentication(
    host: str, *, used: str = APP_CONTEXT, instead: str = _USER_CONTEXTS
) -> Problem:
    return {
        "title": "Unsupported Authentication",
        "detail": f"Authenticating with {used} is forbidden for this endpoint.  "
        f"Supported authentication types are [{instead}].",
        "type": _kind("unsupported-authentication", host),
        "status": 403,
    }


def usage_capped(host: str) -> Problem:
    return {
        "account_id": _ACCOUNT,
        "product_name": "standard-basic",
        "title": "UsageCapExceeded",
        "period": "Monthly",
        "scope": "Product",
        "detail": "Usage cap exceeded: Monthly product cap",
        "type": _kind("usage-capped", host),
    }


def too_many_connections(host: str) -> Problem:
    return {
        "title": "ConnectionException",
        "detail": "This stream is currently at the maximum allowed connection limit.",
        "connection_issue": "TooManyConnections",
        "type": _kind("streaming-connection", host),
    }


def no_rules(host: str) -> Problem:
    return {
        "title": "ConnectionException",
        "detail": "Rules must be configured before connecting to this stream.",
        "connection_issue": "RuleConfigurationIssue",
        "type": _kind("streaming-connection", host),
    }


def disconnected(why: str, host: str) -> Problem:
    """The last line of a stream; `why` is its disconnect_type."""
    return {
        "errors": [
            {
                "title": "operational-disconnect",
                "disconnect_type": why,
                "detail": "This stream has been disconnected upstream for operational reasons.",
                "type": _kind("operational-disconnect", host),
            }
        ]
    }


def duplicate_rule(value: str, rule_id: str, host: str) -> Problem:
    return {
        "value": value,
        "id": rule_id,
        "title": "DuplicateRule",
        "type": _kind("duplicate-rules", host),
    }


def invalid_rule(value: str, why: str, host: str) -> Problem:
    return {
        "value": value,
        "details": [why],
        "title": "UnprocessableEntity",
        "type": _kind("invalid-rules", host),
    }


def too_many_rules(value: str, host: str) -> Problem:
    return {
        "value": value,
        "detail": "Your app has reached the maximum number of rules.",
        "title": "RulesCapExceeded",
        "type": _kind("rule-cap", host),
    }


def no_such_rule(host: str) -> Problem:
    body = invalid_request([], host)
    return {**body, "errors": [{"parameters": {}, "message": "Rule does not exist"}]}


def credits(host: str) -> Problem:
    return {
        "account_id": _ACCOUNT,
        "title": "CreditsDepleted",
        "detail": f"Your enrolled account [{_ACCOUNT}] does not have any credits to fulfill this "
        "request.",
        "type": _kind("credits", host),
    }


def credits_depleted(host: str) -> Problem:
    return {
        "detail": "credits depleted",
        "status": 402,
        "title": "Payment Required",
        "type": _kind("credits-depleted", host),
    }


_V1_MESSAGES = {
    17: "No user matches for specified terms.",
    18: "Too many terms specified in query.",
    32: "Could not authenticate you.",
    88: "Rate limit exceeded",
    89: "Invalid or expired token.",
    130: "Over capacity",
    131: "Internal error",
    144: "No status found with that ID.",
    215: "Bad Authentication data.",
    453: "You currently have access to a subset of X API V2 endpoints and limited v1.1 endpoints "
    "(e.g. media post, oauth) only. If you need access to this endpoint, you may need a different "
    "access level.",
}


def v1_error(code: int, message: str | None = None) -> bytes:
    return orjson.dumps({"errors": [{"code": code, "message": message or _V1_MESSAGES[code]}]})
