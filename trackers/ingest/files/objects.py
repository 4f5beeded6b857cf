"""JSON values ─> tweets, in the format of v2, v1.1, twarc, or an archive.

A value may be one tweet, a list of them, or a whole answer with `data` and `includes`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import orjson

from trackers.ingest.files.lenient import understood
from trackers.ingest.found_tweets import (
    MAX_QUOTED_LENGTH,
    FoundTweet,
    Numbered,
    Options,
    Rejected,
    id_of,
)
from trackers.xapi.parse import v1 as parse_v1
from trackers.xapi.parse import v2 as parse_v2
from trackers.xapi.parse.fields import Broken, short_text, text_of, v1_time
from trackers.xapi.parse.v2 import NO_METRICS
from trackers.xapi.results import Post

# For a retweet of a quote of a quote.
_DEEPEST = 3


def read_jsonl(lines: Numbered, options: Options) -> Iterator[FoundTweet | Rejected]:
    for number, line in lines:
        try:
            value = _value_of(line)
        except (ValueError, RecursionError) as fault:
            yield Rejected(number, line[:MAX_QUOTED_LENGTH], not_json(fault))
            continue
        yield from found_in(value, options, number=number, text=line[:MAX_QUOTED_LENGTH])


def not_json(fault: Exception) -> str:
    """Why a text is refused, in words that do not speak of Python."""
    match fault:
        case RecursionError():
            return "is nested too deeply"
        case json.JSONDecodeError():
            return f"is not JSON: {fault}"
        case _:
            return "has a number with too many digits"


def _value_of(line: str) -> Any:
    try:
        return orjson.loads(line)
    except ValueError:
        # orjson refuses lone surrogates, which X makes by cutting texts; json does not.
        return json.loads(line)


def found_in(
    value: Any, options: Options, *, number: int, text: str
) -> Iterator[FoundTweet | Rejected]:
    """Every tweet of a value; a broken one does not affect the others."""
    for one in _tweets_in(value, referenced=options.referenced):
        try:
            yield _read_tweet(one, number, text)
        except Broken as fault:
            yield Rejected(number, text, f"is not a tweet: {fault}")


def _tweets_in(value: Any, *, referenced: bool) -> Iterator[Any]:
    if isinstance(value, dict) and isinstance(value.get("data"), dict | list):
        yield from _tweets_of_answer(value, referenced=referenced)
        return
    for wrapped in value if isinstance(value, list) else [value]:
        # An archive wraps each tweet.
        inner = wrapped.get("tweet") if isinstance(wrapped, dict) and "id" not in wrapped else None
        tweet = inner if isinstance(inner, dict) else wrapped
        yield tweet
        if referenced and isinstance(tweet, dict):
            yield from _referenced_by(tweet, marks=tweet.get("__twarc"))


def _tweets_of_answer(answer: Mapping[str, Any], *, referenced: bool) -> Iterator[Any]:
    """The tweets of a v2 answer, each with its author and twarc's time, which is noted once."""
    data, marks = answer["data"], answer.get("__twarc")
    includes = answer.get("includes")
    users = {user["id"]: user for user in _objects(includes, "users")}
    included = _objects(includes, "tweets") if referenced else []
    known = {post["id"] for post in included}
    for post in data if isinstance(data, list) else [data]:
        if not isinstance(post, dict):
            yield post
            continue
        yield _with_context(post, users, marks)
        if referenced:
            for other in _referenced_by(post, marks=marks):
                if str(other.get("id")) not in known:
                    yield other
    yield from (_with_context(post, users, marks) for post in included)


def _objects(includes: Any, name: str) -> list[dict[str, Any]]:
    """The objects with an id from a list in `includes`."""
    items = includes.get(name) if isinstance(includes, dict) else None
    return [
        one
        for one in (items if isinstance(items, list) else [])
        if isinstance(one, dict) and isinstance(one.get("id"), str)
    ]


def _with_context(tweet: dict[str, Any], users: Mapping[str, Any], marks: Any) -> dict[str, Any]:
    author = tweet.get("author_id")
    user = users.get(author) if isinstance(author, str) else None
    context = {"__twarc": marks, "author": user}
    return {**tweet, **{name: value for name, value in context.items() if value is not None}}


def _referenced_by(tweet: Mapping[str, Any], *, marks: Any, depth: int = 1) -> Iterator[Any]:
    """What a tweet retweets, quotes or answers: the whole tweet if it is included, else its id."""
    inside = [tweet.get("retweeted_status"), tweet.get("quoted_status")]
    others = tweet.get("referenced_tweets")
    inside += others if isinstance(others, list) else []
    for inner in inside:
        if isinstance(inner, dict):
            yield {"__twarc": marks, **inner}
            if depth < _DEEPEST:
                yield from _referenced_by(inner, marks=marks, depth=depth + 1)
    whole = [inner.get("id_str") for inner in inside if isinstance(inner, dict)]
    for name in ("quoted_status_id_str", "in_reply_to_status_id_str"):
        id = tweet.get(name)
        if isinstance(id, str) and id and id not in whole:
            yield {"id": id}


def _read_tweet(value: Any, number: int, text: str) -> FoundTweet:
    """An id, an address, or a tweet as v2 or v1.1 shows it; raises Broken when it is none of them.

    If only the id is readable, the tweet is found all the same.
    """
    if not isinstance(value, dict):
        id = id_of(str(value)) if isinstance(value, int | str) else None
        if id is None:
            raise Broken("neither an id, an address nor an object")
        return FoundTweet(id)
    given = value.get("id_str") or value.get("id")
    if isinstance(given, float):
        raise Broken("its id is a number that was rounded, so its last digits are lost")
    id = id_of(str(given)) if isinstance(given, int | str) else None
    if id is None:
        raise Broken("there is no id in it")
    post, odd = _whole_or_lenient(value, id)
    if post is None and not odd:
        return FoundTweet(id)
    return FoundTweet(id, post, _retrieved_at(value), number, text, odd)


def _whole_or_lenient(value: dict[str, Any], id: int) -> tuple[Post | None, str]:
    """What came with the id, if anything; and what is odd in it."""
    unread: list[str] = []
    try:
        post = _post_in(value, id, unread)
        if not unread:
            return post, ""
    except Broken as fault:
        if isinstance(value.get("favorite_count"), str):
            # From an archive: its counts are undated, and nothing else in it is needed.
            return None, f"{fault}: only the id is taken"
    is_v1 = "public_metrics" not in value
    try:
        return understood(value, id, lambda given: _strictly(given, id), is_v1=is_v1)
    except Broken as fault:
        return None, f"{fault}: only the id is taken"


def _strictly(value: dict[str, Any], id: int) -> Post:
    post = _post_in(value, id, [])
    if post is None:
        raise Broken("there is no count in it")
    return post


def _post_in(value: dict[str, Any], id: int, unread: list[str]) -> Post | None:
    """`unread` as in `v2.read_post`."""
    if "public_metrics" in value:
        text = str(id)
        # Copied only where the id differs.
        mine = value if value.get("id") == text else {**value, "id": text}
        post = parse_v2.read_post(mine, id, unread)
        author = value.get("author")
        username = short_text(author, "username", most=50) if isinstance(author, dict) else ""
        return post._replace(username=username) if username else post
    if isinstance(value.get("favorite_count"), str):
        return _archived(value, id)
    if "favorite_count" in value or "retweet_count" in value:
        long = value.get("extended_tweet")
        if isinstance(long, dict) and "full_text" not in value:
            value = {**value, "full_text": long.get("full_text", value.get("text"))}
        return parse_v1.read_status({**value, "id_str": str(id)}, id, unread)
    return None


def _archived(value: Mapping[str, Any], id: int) -> Post:
    """A tweet of the user's own archive. Its counts are ignored: they are undated."""
    return Post(
        id,
        None,
        v1_time(value, "created_at"),
        text_of(value, "full_text" if "full_text" in value else "text"),
        short_text(value, "lang", most=10),
        (),
        NO_METRICS,
    )


def _retrieved_at(value: Mapping[str, Any]) -> datetime | None:
    """When twarc fetched it, according to twarc."""
    marks = value.get("__twarc")
    text = marks.get("retrieved_at") if isinstance(marks, dict) else None
    try:
        at = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return at if at is not None and at.tzinfo is not None else None
