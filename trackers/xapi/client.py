"""Looking up tweets and accounts: tweepy sends, `parse` reads.

v2 goes through tweepy's Client. v1.1 goes through the same session without tweepy's API, which
closes its session after every call (a new TLS connection each time) and reads bodies itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal, overload

from trackers.xapi.endpoints import (
    ACCOUNTS,
    CREDITS,
    LOOKUP_BY_IDS,
    USAGE_COUNT,
    USER_FIELDS,
)
from trackers.xapi.keys import V1, Keys
from trackers.xapi.parse import usual as parse_usual
from trackers.xapi.parse import v1, v2
from trackers.xapi.parse.usage import Credits, Usage, read_balance, read_usage
from trackers.xapi.results import Accounts, Lookup, Shown
from trackers.xapi.vocabulary import ask_in_vocabulary, fields_in
from trackers.xapi.wire.session import CANONICAL, Reply
from trackers.xapi.wire.x_client import Read, XClient, client_for, tweepy_parameter

_V1_LOOKUP = CANONICAL + "/1.1/statuses/lookup.json"
_V1_OPTIONS = {"map": "true", "tweet_mode": "extended"}
MOST_IDS = 100


@overload
def look_up(
    keys: Keys,
    ids: Sequence[int],
    *,
    base_url: str,
    timeout: timedelta,
    describes: bool = True,
    usual: Literal[False] = False,
) -> Lookup: ...


@overload
def look_up(
    keys: Keys,
    ids: Sequence[int],
    *,
    base_url: str,
    timeout: timedelta,
    describes: bool = True,
    usual: bool,
) -> Lookup | Shown: ...


def look_up(
    keys: Keys,
    ids: Sequence[int],
    *,
    base_url: str,
    timeout: timedelta,
    describes: bool = True,
    usual: bool = False,
) -> Lookup | Shown:
    """What X says about up to 100 tweets, in one request; raises XError and nothing else.

    `describes`: also ask for what never changes, which is a third of the reply.
    `usual`: the caller knows of nothing special about any of these tweets. If X reports nothing
    special either, the answer is a Shown, which costs less than half as much to read. Only for v2,
    and only without `describes`.
    `base_url` is a server that speaks X's API, "" for X itself. `timeout` covers the whole
    exchange. No ids, or too many, are a ValueError.
    """
    _check_number(ids)
    client, endpoint = client_for(keys, base_url, timeout), LOOKUP_BY_IDS[keys.api]
    if keys.api == V1:
        return client.ask(
            endpoint, lambda: _ask_v1(client, ids, describes=describes), v1.read_lookup, ids
        )
    read: Read[Lookup | Shown] = v2.read_lookup
    if usual and not describes:
        read = parse_usual.read_lookup

    def send(vocabulary: str) -> Reply:
        return ask_v2(client, ids, vocabulary, fields_in(vocabulary, describes=describes))

    return client.ask(endpoint, lambda: ask_in_vocabulary(base_url, endpoint, send), read, ids)


def look_up_accounts(
    keys: Keys, ids: Sequence[int], *, base_url: str, timeout: timedelta
) -> Accounts:
    """What X says about up to 100 accounts; as `look_up`, but with a v2 credential only."""
    _check_number(ids)
    endpoint = ACCOUNTS.get(keys.api)
    if endpoint is None:
        raise ValueError("Accounts are looked up with a v2 credential.")
    client = client_for(keys, base_url, timeout)
    return client.ask(endpoint, lambda: _ask_accounts(client, ids), v2.read_accounts, ids)


def ask_v2(client: XClient, ids: Sequence[int], vocabulary: str, fields: list[str]) -> Reply:
    # A list: tweepy sends any other iterable as one parameter for each id.
    return client.tweepy.get_tweets(
        [str(id) for id in ids], **{tweepy_parameter(vocabulary): fields}
    )


def _ask_accounts(client: XClient, ids: Sequence[int]) -> Reply:
    return client.tweepy.get_users(ids=[str(id) for id in ids], user_fields=USER_FIELDS)


def _ask_v1(client: XClient, ids: Sequence[int], *, describes: bool) -> Reply:
    params = {
        "id": ",".join(map(str, ids)),
        "include_entities": "true" if describes else "false",
        **_V1_OPTIONS,
    }
    return client.session.get(_V1_LOOKUP, params=params)


def _check_number(ids: Sequence[int]) -> None:
    if not 1 <= len(ids) <= MOST_IDS:
        raise ValueError(f"X is asked for 1 to {MOST_IDS} ids at once, not for {len(ids)}.")


_ADDRESS = CANONICAL + "/2/usage/tweets"
_CREDITS_ADDRESS = CANONICAL + "/2/usage/credits"
_DAYS = 31
_USAGE_FIELDS = "cap_reset_day,daily_project_usage,project_cap,project_usage"


def read_project_usage(keys: Keys, *, base_url: str, timeout: timedelta) -> Usage:
    """The usage of the project of these keys; X gives it to bearer tokens only.

    Raises XError and nothing else.
    """
    client = client_for(keys, base_url, timeout)
    params = {"days": str(_DAYS), "usage.fields": _USAGE_FIELDS}
    return client.ask(
        USAGE_COUNT[keys.api], lambda: client.session.get(_ADDRESS, params=params), read_usage, ()
    )


def read_credits(keys: Keys, *, base_url: str, timeout: timedelta) -> Credits:
    """The dollars that whoever pays for these keys has left; as `read_project_usage`."""
    client = client_for(keys, base_url, timeout)
    return client.ask(
        CREDITS[keys.api], lambda: client.session.get(_CREDITS_ADDRESS, params={}), read_balance, ()
    )
