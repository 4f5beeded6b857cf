"""Asking X: tweepy sends, the parts beside this file read. The only file that calls tweepy.

v2 goes through tweepy's Client. v1.1 goes through the same session without tweepy's API, which
closes its session after every call (a new TLS connection each time) and reads bodies itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from requests import Response

from trackers.xapi import parse_v1, parse_v2
from trackers.xapi.answers import Accounts, Lookup
from trackers.xapi.endpoints import ACCOUNTS, TWEETS
from trackers.xapi.line import Line, line_for
from trackers.xapi.models import Credential
from trackers.xapi.renew import tokens_of
from trackers.xapi.transport import CANONICAL

# An expansion would be billed as a read of its own.
TWEET_FIELDS = ["created_at", "author_id", "public_metrics", "lang", "edit_history_tweet_ids"]
USER_FIELDS = ["protected"]
V1_LOOKUP = CANONICAL + "/1.1/statuses/lookup.json"
V1_OPTIONS = {"map": "true", "tweet_mode": "extended", "include_entities": "false"}
MOST_IDS = 100


def look_up(
    credential: Credential, ids: Sequence[int], *, base_url: str, timeout: timedelta
) -> Lookup:
    """What X says of up to 100 tweets, in one request; raises XError and nothing else.

    `base_url` is another server that speaks as X does, "" for X itself. `timeout` is for the whole
    exchange, and again for the renewal of OAuth 2.0 tokens before it. More ids, or none, are a
    ValueError.
    """
    check_number(ids)
    with tokens_of(credential, base_url=base_url, timeout=timeout) as asking:
        line, endpoint = line_for(asking, base_url, timeout), TWEETS[asking.api]
        if asking.api == Credential.Api.V1:
            return line.ask(endpoint, lambda: ask_v1(line, ids), parse_v1.read_lookup, ids)
        return line.ask(endpoint, lambda: ask_v2(line, ids), parse_v2.read_lookup, ids)


def look_up_accounts(
    credential: Credential, ids: Sequence[int], *, base_url: str, timeout: timedelta
) -> Accounts:
    """What X says of up to 100 accounts; as `look_up`, but with a v2 credential only."""
    check_number(ids)
    endpoint = ACCOUNTS.get(credential.api)
    if endpoint is None:
        raise ValueError("Accounts are looked up with a v2 credential.")
    with tokens_of(credential, base_url=base_url, timeout=timeout) as asking:
        line = line_for(asking, base_url, timeout)
        return line.ask(endpoint, lambda: ask_accounts(line, ids), parse_v2.read_accounts, ids)


def ask_v2(line: Line, ids: Sequence[int]) -> Response:
    # A list: tweepy sends anything else as a parameter for each id.
    return line.tweepy.get_tweets([str(id) for id in ids], tweet_fields=TWEET_FIELDS)


def ask_accounts(line: Line, ids: Sequence[int]) -> Response:
    return line.tweepy.get_users(ids=[str(id) for id in ids], user_fields=USER_FIELDS)


def ask_v1(line: Line, ids: Sequence[int]) -> Response:
    return line.session.get(V1_LOOKUP, params={"id": ",".join(map(str, ids)), **V1_OPTIONS})


def check_number(ids: Sequence[int]) -> None:
    if not 1 <= len(ids) <= MOST_IDS:
        raise ValueError(f"X is asked for 1 to {MOST_IDS} ids at once, not for {len(ids)}.")
