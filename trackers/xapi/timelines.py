"""Asking X for pages of posts: an account's, its mentions, recent search, a list, the archive.

Ask ─> tweepy ─> Page: the posts, the next page's token, when the request began by X's clock
Like `client` for look-ups: the same connections, the same errors.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from trackers.xapi.endpoints import (
    ACCOUNT_POSTS,
    ARCHIVE,
    LIST_POSTS,
    MENTIONS,
    SEARCH,
    USER_FIELDS,
    USERNAMES,
)
from trackers.xapi.errors import BadRequest, Garbage, StaleSinceId, Unavailable
from trackers.xapi.keys import V2, Keys
from trackers.xapi.page import Ask, Page, PageKind
from trackers.xapi.parse.timeline import page_of, read_named, stale_since_id
from trackers.xapi.results import Account, Missing, WindowSeen
from trackers.xapi.vocabulary import ask_in_vocabulary, fields_in
from trackers.xapi.wire.headers import date_of
from trackers.xapi.wire.session import RejectedReply, Reply
from trackers.xapi.wire.x_client import Send, XClient, client_for, tweepy_parameter

# The endpoint of each kind, in the form that `select_credential` takes.
ENDPOINTS: Mapping[PageKind, Mapping[str, str]] = {
    "account": ACCOUNT_POSTS,
    "mentions": MENTIONS,
    "search": SEARCH,
    "list": LIST_POSTS,
    "archive": ARCHIVE,
}
# A Date this far from our own clock is more likely an error than a clock.
MOST_SKEW = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Named:
    """The account of a username, or why X shows none; neither when X gave no verdict."""

    account: Account | None
    missing: Missing | None
    window: WindowSeen | None


def read_page(keys: Keys, ask: Ask, *, base_url: str, timeout: timedelta) -> Page:
    """One page, in one request; raises XError and nothing else.

    `base_url` and `timeout` as in `client.look_up`. StaleSinceId when `since_id` is too old for
    search.
    """
    client = client_for(keys, base_url, timeout)
    endpoint = ENDPOINTS[ask.kind][V2]

    def send(vocabulary: str) -> Reply:
        return _SEND[ask.kind](client, ask, vocabulary)

    exchange = Exchange(lambda: ask_in_vocabulary(base_url, endpoint, send), ask.of)
    try:
        return client.ask(endpoint, exchange.send, exchange.read_page, ())
    except BadRequest as error:
        is_stale, suggested = stale_since_id(exchange.rejected)
        if not is_stale:
            raise
        stale = StaleSinceId(error.reason, suggested=suggested, window=error.window)
    raise stale


def look_up_username(keys: Keys, username: str, *, base_url: str, timeout: timedelta) -> Named:
    """Whose username this is, given without the @; as `read_page`."""

    def read(body: bytes, ids: Sequence[int], /, *, window: WindowSeen | None) -> Named:
        return Named(*read_named(body, username), window)

    client = client_for(keys, base_url, timeout)
    exchange = Exchange(lambda: _ask_username(client, username), username)
    try:
        return client.ask(USERNAMES[V2], exchange.send, read, ())
    except Unavailable as error:
        failure = error
    # A 404 that names the username is an answer (seen in October 2026).
    with suppress(Garbage):
        named = read(exchange.rejected, (), window=failure.window)
        if named.missing:
            return named
    raise failure


@dataclass(slots=True)
class Exchange:
    """One request and its reply, with both clocks."""

    ask: Send
    of: int | str  # what was asked for
    began: float = 0.0
    took: timedelta = timedelta(0)
    date: datetime | None = None
    rejected: bytes = field(default=b"", repr=False)

    def send(self) -> Reply:
        began = time.monotonic()
        try:
            response = self.ask()
        except RejectedReply as refusal:
            self.rejected = refusal.reply.body
            raise
        self.took = timedelta(seconds=time.monotonic() - began)
        self.date = date_of(response.headers.get("date"))
        return response

    def read_page(self, body: bytes, ids: Sequence[int], /, *, window: WindowSeen | None) -> Page:
        skew = _skew_of(self.date, self.took, now=datetime.now(UTC))
        believed = skew is not None and abs(skew) <= MOST_SKEW
        # X truncates its Date to seconds, so this is never later than the request.
        asked_at = self.date - self.took if self.date is not None and believed else None
        return replace(page_of(body, self.of), asked_at=asked_at, skew=skew, window=window)


def _skew_of(date: datetime | None, took: timedelta, *, now: datetime) -> timedelta | None:
    """Our clock less X's: half-way through, X was on average half a second past its Date."""
    if date is None:
        return None
    return (now - took / 2) - (date + timedelta(milliseconds=500))


def _ask_account(client: XClient, ask: Ask, vocabulary: str) -> Reply:
    return client.tweepy.get_users_tweets(ask.of, **_options(ask, vocabulary))


def _ask_mentions(client: XClient, ask: Ask, vocabulary: str) -> Reply:
    return client.tweepy.get_users_mentions(ask.of, **_options(ask, vocabulary))


def _ask_search(client: XClient, ask: Ask, vocabulary: str) -> Reply:
    return client.tweepy.search_recent_tweets(ask.of, **_options_of_search(ask, vocabulary))


def _ask_archive(client: XClient, ask: Ask, vocabulary: str) -> Reply:
    return client.tweepy.search_all_tweets(ask.of, **_options_of_search(ask, vocabulary))


def _options_of_search(ask: Ask, vocabulary: str) -> dict[str, Any]:
    params = _options(ask, vocabulary)
    if "pagination_token" in params:
        params["next_token"] = params.pop("pagination_token")
    return params


def _ask_list(client: XClient, ask: Ask, vocabulary: str) -> Reply:
    return client.tweepy.get_list_tweets(ask.of, **_options(ask, vocabulary))


def _ask_username(client: XClient, username: str) -> Reply:
    return client.tweepy.get_users(usernames=[username], user_fields=USER_FIELDS)


_SEND: Mapping[PageKind, Callable[[XClient, Ask, str], Reply]] = {
    "account": _ask_account,
    "mentions": _ask_mentions,
    "search": _ask_search,
    "list": _ask_list,
    "archive": _ask_archive,
}


def _options(ask: Ask, vocabulary: str) -> dict[str, Any]:
    """Arguments for tweepy; lists where it joins with commas."""
    params: dict[str, Any] = {
        "since_id": ask.since_id,
        "until_id": ask.until_id,
        "pagination_token": ask.token,
        "start_time": ask.start_time,
        "end_time": ask.end_time,
        "exclude": list(ask.exclude) or None,
    }
    return {
        "max_results": ask.max_results,
        tweepy_parameter(vocabulary): fields_in(vocabulary),
        **{name: value for name, value in params.items() if value is not None},
    }
