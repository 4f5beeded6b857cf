"""JSON values ─> the objects in them that may be tweets, whoever wrapped them.

A value may be one tweet, a list of them, a whole answer with `data` and `includes`, a page of v1.1
or of premium search, a map of look-ups, an entry of X's archive, or what X's own web site got.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# For a retweet of a quote of a quote.
_DEEPEST = 3
# For what X's web site gets, which wraps a tweet a dozen times.
_DEEPEST_WRAPPED = 40
_LISTS_OF_TWEETS = ("statuses", "results", "tweets", "posts")
_WRAPPERS = ("tweet", "status", "tweetResult", "tweet_result", "tweet_results", "result")
# Never a tweet of the file's own: others' are quoted, repeated or answered there.
_OF_OTHERS = ("quot", "retweet", "core", "user", "author", "repl", "parent", "card", "includes")
_HAS_TEXT = (
    "text", "full_text", "content", "rawContent", "renderedContent", "tweet", "body", "legacy",
    "tweetText", "tweet_text", "message", "long_text",
)  # fmt: skip
_NAMED_BY_X = {"User": "an account", "List": "a list", "Place": "a place"}
_NAMES_OF_ACCOUNTS = {"username", "screen_name", "userName", "screenName"}
_NOTICES = {
    "delete": "that a tweet was deleted", "limit": "of left-out tweets",
    "scrub_geo": "to remove places", "status_withheld": "that a tweet is withheld",
    "user_withheld": "that an account is withheld", "warning": "of a slow reader",
    "disconnect": "of its end", "friends": "of accounts", "info": "of its end",
    "user_update": "of an account", "user_delete": "of an account",
}  # fmt: skip


def tweets_in(value: Any, *, referenced: bool) -> Iterator[Any]:
    """Each may be a tweet; what cannot be one at all comes too, to be rejected."""
    if isinstance(value, list):
        for each in value:
            yield from tweets_in(each, referenced=referenced) if isinstance(each, dict) else (each,)
    elif not isinstance(value, dict):
        yield value
    elif isinstance(value.get("data"), dict | list):
        yield from _tweets_of_answer(value, referenced=referenced)
    else:
        yield from _tweets_of_object(value, referenced=referenced)


def _tweets_of_object(value: dict[str, Any], *, referenced: bool) -> Iterator[Any]:
    if not _has_an_id(value):
        for name in _LISTS_OF_TWEETS:
            if isinstance(value.get(name), list):
                yield from tweets_in(value[name], referenced=referenced)
                return
        for name in _WRAPPERS:
            if isinstance(value.get(name), dict):
                yield from tweets_in(value[name], referenced=referenced)
                return
        if isinstance(value.get("like"), dict):
            # Of likes only the ids: their texts are others', and may be deleted by now.
            yield {"id": value["like"].get("tweetId")}
            return
        if isinstance(value.get("id"), dict):
            yield from _tweets_of_map(value["id"])
            return
        if not why_no_tweet(value) and (inside := list(_wrapped_deeply(value))):
            yield from inside
            return
    yield value
    if referenced:
        yield from _referenced_by(value, marks=value.get("__twarc"))


def _has_an_id(value: Mapping[str, Any]) -> bool:
    return any(
        isinstance(value.get(name), str | int | float) or _is_long(value.get(name))
        for name in ("id", "id_str", "rest_id", "tweet_id", "tweetId", "status_id")
    )


def _is_long(value: Any) -> bool:
    return isinstance(value, dict) and "$numberLong" in value


def _tweets_of_map(statuses: Mapping[str, Any]) -> Iterator[Any]:
    """Of v1.1 `statuses/lookup` with `map=true`: a null is a tweet that X did not show."""
    for id, status in statuses.items():
        if isinstance(status, dict):
            yield status if _has_an_id(status) else {**status, "id_str": id}


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
        if not _has_an_id(post) and (inside := list(_wrapped_deeply(post))):
            yield from inside
            continue
        yield _with_context(post, users, marks)
        if referenced:
            for other in _referenced_by(post, marks=marks):
                if str(other.get("id")) not in known:
                    yield other
    yield from (_with_context(post, users, marks) for post in included)


def _wrapped_deeply(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Tweets as X's web site gets them, inside timelines, entries and results."""
    if depth > _DEEPEST_WRAPPED:
        return
    if isinstance(value, list):
        for each in value:
            yield from _wrapped_deeply(each, depth + 1)
    elif isinstance(value, dict):
        legacy = value.get("legacy")
        if isinstance(value.get("rest_id"), str) and (
            value.get("__typename") == "Tweet"
            or (isinstance(legacy, dict) and "full_text" in legacy)
        ):
            yield value
            return
        for name, inside in value.items():
            if isinstance(inside, dict | list) and not name.startswith(_OF_OTHERS):
                yield from _wrapped_deeply(inside, depth + 1)


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


def is_account(value: Mapping[str, Any]) -> bool:
    """Whether an object has the name of an account, and nothing of a tweet but an id."""
    if any(name in value for name in _HAS_TEXT) or not value.keys() & _NAMES_OF_ACCOUNTS:
        return False
    return not value.keys() & {"author_id", "tweet_id", "tweetId", "status_id", "created_at_tweet"}


def why_no_tweet(value: Mapping[str, Any]) -> str:
    """What an object is instead of a tweet; empty if it may be one."""
    if len(value) <= 2:
        for name, what in _NOTICES.items():
            if isinstance(value.get(name), dict):
                return f"it is a notice of the stream {what}"
    if "noteTweet" in value:
        return "it is the long text of a tweet that stands in another file"
    if "errors" in value and not _has_an_id(value):
        return "it is X's answer about what it did not show"
    if {"start", "end", "tweet_count"} <= value.keys():
        return "it is a count of tweets"
    kind = value.get("__typename")
    if isinstance(kind, str) and kind in _NAMED_BY_X:
        return f"it is {_NAMED_BY_X[kind]}"
    if any(name in value for name in _HAS_TEXT):
        return ""
    counts = value.get("public_metrics")
    counts = counts if isinstance(counts, dict) else value
    if "followers_count" in counts:
        return "it is an account"
    if "dm_conversation_id" in value or "message_create" in value:
        return "it is a private message"
    if value.keys() & {"follower_count", "member_count", "subscriber_count"}:
        return "it is a list"
    if (
        value.keys() & {"place_type", "bounding_box"}
        or {"full_name", "country_code"} <= value.keys()
    ):
        return "it is a place"
    return ""
