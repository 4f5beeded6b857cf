"""The Authorization header of a credential. Only this file and the command read the secrets."""

from __future__ import annotations

import logging

import requests_oauthlib  # noqa: F401 - its loggers must exist before they are quieted
import tweepy  # noqa: F401 - the same
from oauthlib.oauth1.rfc5849 import Client

from trackers.xapi.models import Credential
from trackers.xapi.transport import Sign

# These write keys, tokens and what is signed at DEBUG.
TALKATIVE = ("tweepy", "oauthlib", "requests_oauthlib")


def sign_with(credential: Credential) -> Sign:
    """How requests are signed: a bearer token as it is, OAuth 1.0a anew for each request."""
    secrets = credential.secrets
    if credential.kind == Credential.Kind.BEARER:
        bearer = "Bearer " + secrets["bearer_token"]
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


def is_worth_a_line(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING


def quieten() -> None:
    """Drop what the talkative loggers write below WARNING, even if their level is lowered.

    A filter works only on its own logger, hence each one by itself.
    """
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in TALKATIVE:
            logging.getLogger(name).addFilter(is_worth_a_line)


quieten()
