"""Bodies of v2 200s ─> posts and accounts, each on its own: a broken one spoils no other.

X names things in two vocabularies (tweet/retweet, post/repost); both are understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from trackers.xapi.errors import Garbage
from trackers.xapi.parse.entities import read_entities
from trackers.xapi.parse.fields import (
    INT4,
    INT8,
    Broken,
    id_of,
    id_or_none,
    iso_time,
    json_type_name,
    read_counts,
    read_object,
    short_text,
    text_of,
)
from trackers.xapi.parse.problems import hidden, kind_of
from trackers.xapi.results import (
    Account,
    Accounts,
    Entities,
    Figures,
    Lookup,
    Missing,
    Post,
    WindowSeen,
)

_TWEET_KINDS = frozenset({"tweet", "post"})
_USER_KINDS = frozenset({"user"})


def read_lookup(body: bytes, ids: Sequence[int], *, window: WindowSeen | None) -> Lookup:
    """The answer of `GET /2/tweets` to `ids`; Garbage when the body is not one."""
    return read_answer(read_object(body), ids, window=window)


def read_answer(
    answer: Mapping[str, Any], ids: Sequence[int], *, window: WindowSeen | None
) -> Lookup:
    """The same, for a body that has already been parsed."""
    asked = {str(id): id for id in ids}
    posts: dict[int, Post] = {}
    broken: dict[int, str] = {}
    unread: list[str] = []
    items = _objects(answer)
    for item, id in _asked_for(items, asked):
        if id in posts:
            continue
        try:
            posts[id] = read_post(item, id, unread)
        except Broken as error:
            broken[id] = str(error)
    strangers, edited = 0, _edited_of(posts)
    if edited or len(posts) + len(broken) < len(items):
        strangers = _read_versions(items, asked, posts, broken)
        edited = _edited_of(posts)
    missing: dict[int, Missing] = {
        id: reason
        for id, reason in hidden(answer, asked, kinds=_TWEET_KINDS)
        if id not in posts and id not in broken
    }
    return Lookup(posts, missing, broken, window, tuple(unread), edited, strangers)


def _edited_of(posts: Mapping[int, Post]) -> tuple[int, ...]:
    return tuple([id for id, post in posts.items() if len(post.edit_history) > 1])


def _read_versions(
    items: Sequence[Mapping[str, Any]],
    asked: Mapping[str, int],
    posts: dict[int, Post],
    broken: dict[int, str],
) -> int:
    """For an old version's id X may show the newest version, whose history lists the id asked for.

    Adds these to the posts; returns how many were shown that nobody asked for.
    """
    strangers = 0
    for item in items:
        names = _versions_named(item)
        if str(item.get("id")) not in asked and names.isdisjoint(asked):
            strangers += 1
        for id in (asked[name] for name in names if name in asked):
            if id in posts or id in broken:
                continue
            try:
                posts[id] = read_post(item, id_of(item.get("id"), "id"))
            except Broken as error:
                broken[id] = str(error)
    return strangers


def _versions_named(item: Mapping[str, Any]) -> set[str]:
    history = item.get("edit_history_tweet_ids", item.get("edit_history_post_ids"))
    return {one for one in history if type(one) is str} if type(history) is list else set()


def read_accounts(body: bytes, ids: Sequence[int], *, window: WindowSeen | None) -> Accounts:
    """The answer of `GET /2/users` to `ids`; a broken account has no verdict."""
    answer = read_object(body)
    asked = {str(id): id for id in ids}
    accounts: dict[int, Account] = {}
    for item, id in _asked_for(_objects(answer), asked):
        try:
            accounts[id] = read_account(item, id)
        except Broken:
            continue
    missing: dict[int, Missing] = {
        id: reason for id, reason in hidden(answer, asked, kinds=_USER_KINDS) if id not in accounts
    }
    return Accounts(accounts, missing, window)


def _objects(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The objects of `data`."""
    data = answer.get("data")
    if data is None:
        # X leaves `data` out when it shows nothing; a problem instead of it is not an answer.
        if "errors" not in answer and kind_of(answer):
            raise Garbage(f"X answered 200 with a problem ({kind_of(answer)[:60]}).")
        return []
    if type(data) is not list:
        raise Garbage(f"X's data is {json_type_name(data)} instead of a list.")
    return [item for item in data if type(item) is dict]


def _asked_for(
    items: Sequence[dict[str, Any]], asked: Mapping[str, int]
) -> list[tuple[dict[str, Any], int]]:
    """Those whose id was asked for; objects without a readable id are dropped."""
    return [
        (item, asked[item["id"]])
        for item in items
        if type(item.get("id")) is str and item["id"] in asked
    ]


def read_post(item: Mapping[str, Any], id: int, unread: list[str] | None = None) -> Post:
    """`unread` gets a line for each count that is not what X documents; it becomes None."""
    author = item.get("author_id")
    return Post(
        id,
        None if author is None else id_of(author, "author_id"),
        iso_time(item, "created_at"),
        _whole_text(item),
        short_text(item, "lang", most=10),
        _read_history(item, id),
        _read_figures(item.get("public_metrics"), [] if unread is None else unread),
        "",
        read_withheld(item["withheld"]) if "withheld" in item else "",
        *(_read_context(item) if not item.keys().isdisjoint(CONTEXT) else ()),
    )


def _whole_text(item: Mapping[str, Any]) -> str | None:
    """X cuts `text` at 280 characters, and sends the whole of a longer one as a note."""
    note = item.get("note_tweet") or item.get("note_post")
    if type(note) is dict and type(note.get("text")) is str:
        return text_of(note, "text")
    return text_of(item, "text")


def read_withheld(withheld: Any) -> str:
    """Where a post is withheld, and why: "DE FR", "XX copyright"; malformed parts are dropped."""
    if type(withheld) is not dict:
        return ""
    codes = withheld.get("country_codes")
    words = [
        code
        for code in (codes if type(codes) is list else [])
        if type(code) is str and code.isalpha() and len(code) == 2
    ]
    why = ["copyright"] if withheld.get("copyright") is True else []
    return " ".join([*sorted(set(words)), *why])


CONTEXT = frozenset(
    {"conversation_id", "referenced_tweets", "referenced_posts", "attachments", "entities"},
)
Context = tuple[int | None, int | None, int | None, int | None, tuple[str, ...], Entities | None]


def _read_context(item: Mapping[str, Any]) -> Context:
    """The conversation, the posts replied to, quoted and retweeted, the media, and what X
    recognised in the text, if readable."""
    about = dict.fromkeys(("replied_to", "quoted", "retweeted"), 0)
    for kind, id in references(item):
        kind = "retweeted" if kind == "reposted" else kind
        if kind in about and id is not None:
            about[kind] = id
    attached = item.get("attachments")
    keys = attached.get("media_keys") if type(attached) is dict else None
    media = [key for key in keys if type(key) is str] if type(keys) is list else []
    return (
        id_or_none(item.get("conversation_id")),
        about["replied_to"] or None,
        about["quoted"] or None,
        about["retweeted"] or None,
        tuple(key for key in media if _MEDIA_KEY.fullmatch(key)),
        read_entities(item),
    )


_MEDIA_KEY = re.compile(r"[0-9]{1,3}_[0-9]{1,19}")


def references(item: Mapping[str, Any]) -> Iterator[tuple[str, int | None]]:
    """How a post refers to others, and their ids: `replied_to`, `retweeted`, `quoted`."""
    name = "referenced_tweets" if "referenced_tweets" in item else "referenced_posts"
    referenced = item.get(name)
    if type(referenced) is list:
        for one in referenced:
            if type(one) is dict and type(one.get("type")) is str:
                yield one["type"], id_or_none(one.get("id"))


def _read_history(item: Mapping[str, Any], id: int) -> tuple[int, ...]:
    name = "edit_history_tweet_ids" if "edit_history_tweet_ids" in item else "edit_history_post_ids"
    history = item.get(name)
    if history is None:
        return ()
    if type(history) is not list:
        raise Broken(f"{name} is {json_type_name(history)} instead of a list")
    if history == [item["id"]]:
        return (id,)
    # X has named one empty id for a post that was never edited.
    return tuple(id_of(version, name) for version in history if version != "")


def _read_figures(metrics: Any, unread: list[str]) -> Figures:
    if type(metrics) is not dict:
        raise Broken(f"public_metrics is {json_type_name(metrics)} instead of an object")
    if (usual := _read_usual_figures(metrics)) is not None:
        return usual
    reposts = "retweet_count" if "retweet_count" in metrics else "repost_count"
    return Figures._make(read_counts(metrics, ((reposts, INT4), *_V2_COUNTS), unread))


_V2_COUNTS = (
    ("reply_count", INT4),
    ("like_count", INT4),
    ("quote_count", INT4),
    ("bookmark_count", INT4),
    ("impression_count", INT8),
)
USUAL = itemgetter(
    "retweet_count",
    "reply_count",
    "like_count",
    "quote_count",
    "bookmark_count",
    "impression_count",
)


USUAL_OF_POSTS = itemgetter(
    "repost_count",
    "reply_count",
    "like_count",
    "quote_count",
    "bookmark_count",
    "impression_count",
)


def _read_usual_figures(metrics: Mapping[str, Any]) -> Figures | None:
    """All six at once; None when any of them needs a closer look."""
    try:
        values = USUAL(metrics)
    except KeyError:
        return None
    if {*map(type, values)} != {int} or min(values) < 0 or max(values) > INT4:
        return None
    return Figures._make(values)


NO_METRICS = Figures(None, None, None, None, None, None)


def read_account(item: Mapping[str, Any], id: int) -> Account:
    protected = item.get("protected", False)
    if type(protected) is not bool:
        raise Broken(f"protected is {json_type_name(protected)} instead of a truth value")
    return Account(
        id,
        short_text(item, "username", most=50),
        (text_of(item, "name") or "")[:200],
        protected,
    )
