"""The Authorization header. Only this file, token renewal and the command read secrets."""

from __future__ import annotations

import logging
from base64 import b64encode
from collections.abc import Mapping

import requests_oauthlib  # noqa: F401 - its loggers must exist before they are quieted
import tweepy  # noqa: F401 - the same
from oauthlib.oauth1.rfc5849 import Client

from trackers.xapi.keys import BEARER, OAUTH2, Keys
from trackers.xapi.wire.session import Sign

# The kinds whose token is sent as is.
_TOKENS: Mapping[str, str] = {
    BEARER: "bearer_token",
    OAUTH2: "access_token",
}

# These log keys, tokens and signed strings at DEBUG.
_TALKATIVE = ("tweepy", "oauthlib", "requests_oauthlib")


def sign_with(keys: Keys) -> Sign:
    """How requests are signed: a token is sent as is, OAuth 1.0a signs each request separately."""
    secrets = keys.secrets
    if keys.kind in _TOKENS:
        bearer = "Bearer " + secrets[_TOKENS[keys.kind]]
        return lambda method, url: bearer
    client = Client(
        secrets["consumer_key"],
        client_secret=secrets["consumer_secret"],
        resource_owner_key=secrets["access_token"],
        resource_owner_secret=secrets["access_token_secret"],
    )

    def sign(method: str, url: str) -> str:
        _, headers, _ = client.sign(url, http_method=method)
        return str(headers["Authorization"])

    return sign


def sign_as_client(secrets: Mapping[str, str]) -> Sign:
    """How an OAuth 2.0 client identifies itself: a public one only in its form, unsigned."""
    secret = secrets.get("client_secret")
    if not secret:
        return lambda method, url: ""
    # As X expects it: not form-encoded first, as RFC 6749 would have it.
    basic = "Basic " + b64encode(f"{secrets['client_id']}:{secret}".encode()).decode()
    return lambda method, url: basic


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING


def _quieten() -> None:
    """Drop what these loggers write below WARNING, even if their level is lowered.

    A filter works only on its own logger, so each one gets it.
    """
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in _TALKATIVE:
            logging.getLogger(name).addFilter(_is_worth_a_line)


_quieten()
