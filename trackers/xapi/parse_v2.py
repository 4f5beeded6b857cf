"""Bodies of v2 200s ─> posts and accounts, each one by itself: a broken one costs nobody else.

X names things in two vocabularies (tweet/retweet, post/repost); both are understood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from trackers.xapi.answers import Account, Accounts, Figures, Lookup, Missing, Post, WindowSeen
from trackers.xapi.errors import Garbage
from trackers.xapi.fields import (
    INT4,
    INT8,
    Broken,
    count,
    id_of,
    iso_time,
    name_of,
    read_object,
    short_text,
    text_of,
)
from trackers.xapi.problems import hidden, kind_of

TWEET_KINDS = frozenset({"tweet", "post"})
USER_KINDS = frozenset({"user"})


def read_lookup(body: bytes, ids: Sequence[int], *, window: WindowSeen | None) -> Lookup:
    """The answer of `GET /2/tweets` to `ids`; Garbage when the body is not one."""
    answer = read_object(body)
    asked = {str(id): id for id in ids}
    posts: dict[int, Post] = {}
    broken: dict[int, str] = {}
    for item, id in items(answer, asked):
        if id in posts:
            continue
        try:
            posts[id] = read_post(item, id)
        except Broken as error:
            broken[id] = str(error)
    missing: dict[int, Missing] = {
        id: reason
        for id, reason in hidden(answer, asked, kinds=TWEET_KINDS)
        if id not in posts and id not in broken
    }
    return Lookup(posts, missing, broken, window)


def read_accounts(body: bytes, ids: Sequence[int], *, window: WindowSeen | None) -> Accounts:
    """The answer of `GET /2/users` to `ids`; a broken account has no verdict."""
    answer = read_object(body)
    asked = {str(id): id for id in ids}
    accounts: dict[int, Account] = {}
    for item, id in items(answer, asked):
        try:
            accounts[id] = read_account(item, id)
        except Broken:
            continue
    missing: dict[int, Missing] = {
        id: reason for id, reason in hidden(answer, asked, kinds=USER_KINDS) if id not in accounts
    }
    return Accounts(accounts, missing, window)


def items(answer: Mapping[str, Any], asked: Mapping[str, int]) -> list[tuple[dict[str, Any], int]]:
    """The objects of `data` whose id was asked for; an object without a readable id is nobody's."""
    data = answer.get("data")
    if data is None:
        # X leaves `data` out when it shows nothing; a problem in its place is not an answer.
        if "errors" not in answer and kind_of(answer):
            raise Garbage(f"X answered 200 with a problem ({kind_of(answer)[:60]}).")
        return []
    if type(data) is not list:
        raise Garbage(f"X's data is {name_of(data)} instead of a list.")
    return [
        (item, asked[item["id"]])
        for item in data
        if type(item) is dict and type(item.get("id")) is str and item["id"] in asked
    ]


def read_post(item: Mapping[str, Any], id: int) -> Post:
    author = item.get("author_id")
    return Post(
        id,
        None if author is None else id_of(author, "author_id"),
        iso_time(item, "created_at"),
        text_of(item, "text"),
        short_text(item, "lang", most=10),
        read_history(item, id),
        read_figures(item.get("public_metrics")),
    )


def read_history(item: Mapping[str, Any], id: int) -> tuple[int, ...]:
    name = "edit_history_tweet_ids" if "edit_history_tweet_ids" in item else "edit_history_post_ids"
    history = item.get(name)
    if history is None:
        return ()
    if type(history) is not list:
        raise Broken(f"{name} is {name_of(history)} instead of a list")
    if history == [item["id"]]:
        return (id,)
    return tuple(id_of(version, name) for version in history)


def read_figures(metrics: Any) -> Figures:
    if type(metrics) is not dict:
        raise Broken(f"public_metrics is {name_of(metrics)} instead of an object")
    if (usual := read_usual_figures(metrics)) is not None:
        return usual
    figures = Figures(
        count(metrics, "retweet_count" if "retweet_count" in metrics else "repost_count"),
        count(metrics, "reply_count"),
        count(metrics, "like_count"),
        count(metrics, "quote_count"),
        count(metrics, "bookmark_count"),
        count(metrics, "impression_count", most=INT8),
    )
    if figures == NOTHING:
        raise Broken("public_metrics holds no count")
    return figures


USUAL = itemgetter(
    "retweet_count",
    "reply_count",
    "like_count",
    "quote_count",
    "bookmark_count",
    "impression_count",
)


def read_usual_figures(metrics: Mapping[str, Any]) -> Figures | None:
    """All six in one go; None when there is anything to be said about any of them."""
    try:
        counts = USUAL(metrics)
    except KeyError:
        return None
    if {*map(type, counts)} != {int} or min(counts) < 0 or max(counts) > INT4:
        return None
    return Figures._make(counts)


NOTHING = Figures(None, None, None, None, None, None)


def read_account(item: Mapping[str, Any], id: int) -> Account:
    protected = item.get("protected", False)
    if type(protected) is not bool:
        raise Broken(f"protected is {name_of(protected)} instead of a truth value")
    return Account(
        id,
        short_text(item, "username", most=50),
        (text_of(item, "name") or "")[:200],
        protected,
    )
