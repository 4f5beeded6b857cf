"""JSON values ─> tweets, in the format of v2, v1.1, twarc, an archive or a collector."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from trackers.ingest.files.lenient import understood
from trackers.ingest.files.object_ids import id_of_object, time_of
from trackers.ingest.files.unwrap import is_account, tweets_in, why_no_tweet
from trackers.ingest.found_tweets import FoundTweet, Options, Rejected
from trackers.ingest.tweet_ids import id_of
from trackers.xapi.parse import v1 as parse_v1
from trackers.xapi.parse import v2 as parse_v2
from trackers.xapi.parse.entities import read_v1_entities
from trackers.xapi.parse.fields import Broken, id_or_none, short_text, text_of, v1_time
from trackers.xapi.parse.v2 import NO_METRICS
from trackers.xapi.results import Post

AN_ACCOUNT = "it has a username, as accounts do, and is only taken as a tweet if you say so"


def not_json(fault: Exception, text: str = "") -> str:
    """Why a text is refused."""
    match fault:
        case json.JSONDecodeError() if text.lstrip().startswith(("{'", "[{'")):
            return "is in Python's own notation: write it with json.dumps, which makes JSON of it"
        case RecursionError():
            return "is nested too deeply"
        case json.JSONDecodeError():
            return f"is not JSON: {fault}"
        case _:
            return "has a number with too many digits"


def found_in(
    value: Any, options: Options, *, number: int, text: str
) -> Iterator[FoundTweet | Rejected]:
    """Every tweet of a value; a broken one does not affect the others."""
    for one in tweets_in(value, referenced=options.referenced):
        try:
            yield _read_tweet(one, options, number, text)
        except Broken as fault:
            yield Rejected(number, text, f"is not a tweet: {fault}")


def _read_tweet(value: Any, options: Options, number: int, text: str) -> FoundTweet:
    """An id, an address, or a tweet as v2 or v1.1 shows it; raises Broken when it is none of them.

    If only the id is readable, the tweet is found all the same.
    """
    if not isinstance(value, dict):
        id = id_of(str(value)) if isinstance(value, int | str) else None
        if id is None:
            raise Broken("neither an id, an address nor an object")
        return FoundTweet(id)
    if why := why_no_tweet(value):
        raise Broken(why)
    id, is_certain = id_of_object(value)
    if is_account(value) and not is_certain and not options.anyway:
        raise Broken(AN_ACCOUNT)
    post, odd = _whole_or_lenient(value, id)
    if post is None and not odd:
        return FoundTweet(id, is_certain=is_certain)
    at = _retrieved_at(value, options.measured_at)
    return FoundTweet(id, post, at, number, text, odd, is_certain)


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
            more = {name: long[name] for name in _OF_A_LONG_TEXT if name in long}
            value = {**value, "full_text": value.get("text"), **more}
        return parse_v1.read_status({**value, "id_str": str(id)}, id, unread)
    return None


# What v1.1 streams beside a text of more than 140 characters.
_OF_A_LONG_TEXT = ("full_text", "entities", "extended_entities")


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
        replied_to=id_or_none(value.get("in_reply_to_status_id_str")),
        media_keys=parse_v1.read_media_keys(value),
        entities=read_v1_entities(value),
    )


def _retrieved_at(value: Mapping[str, Any], named: str | None) -> datetime | None:
    """When its counts were measured: as twarc says, or in the field that a person named."""
    if named:
        at: Any = value.get(named)
        for name in named.split(".") if at is None else ():
            at = at[name] if isinstance(at, dict) and name in at else value.get(name)
        return time_of(at)
    marks = value.get("__twarc")
    text = marks.get("retrieved_at") if isinstance(marks, dict) else None
    try:
        at = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return at if at is not None and at.tzinfo is not None else None
