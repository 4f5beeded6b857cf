"""A tweet of a file with odd values in it: what is readable is taken, the rest left out.

X's own answers are read strictly (`xapi/parse`). Files have been through other hands: pandas writes
1.0 for a count of 1, scripts leave out time zones. Whatever is odd is described, for a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from trackers.tweets.snowflake import born_at
from trackers.xapi.parse.fields import (
    INT4,
    INT8,
    Broken,
    id_of,
    iso_time,
    json_type_name,
    text_of,
    v1_time,
)
from trackers.xapi.parse.v1 import read_author
from trackers.xapi.results import Post

_MAX_ODD_LENGTH = 200


def understood(
    value: Mapping[str, Any], id: int, read: Callable[[dict[str, Any]], Post], *, is_v1: bool
) -> tuple[Post, str]:
    """The readable part of a tweet that `read` refuses, and what is odd in it.

    Raises Broken when `read` refuses even that.
    """
    odd: list[str] = []
    repaired = dict(value)
    for name in ("author_id", "conversation_id"):
        _as_id(repaired, name, odd)
    for name in ("text", "full_text", "lang"):
        _unless(repaired, name, text_of, odd)
    created_at = _lenient_time(repaired, v1_time if is_v1 else iso_time, odd)
    repaired.pop("created_at", None)
    for name in ("edit_history_tweet_ids", "edit_history_post_ids"):
        if name in repaired and not _is_history(repaired[name]):
            repaired.pop(name)
            odd.append(f"{name} is not a list of ids")
    _unless(repaired, "user", _user_of, odd)
    metrics = repaired if is_v1 else repaired.get("public_metrics")
    counts = _counts_in(metrics, odd)
    for name in _COUNTS:
        repaired.pop(name, None)
    # `read` needs at least one count; a made-up one is removed again below.
    some = {**counts} or {"retweet_count": 0}
    post = read({**repaired, **some} if is_v1 else {**repaired, "public_metrics": some})
    if not counts:
        post = post._replace(figures=post.figures._replace(retweets=None))
    return post._replace(created_at=created_at or born_at(id)), "; ".join(odd)[:_MAX_ODD_LENGTH]


_COUNTS = (
    "retweet_count", "repost_count", "reply_count", "like_count", "favorite_count", "quote_count",
    "bookmark_count", "impression_count",
)  # fmt: skip


def _counts_in(metrics: Any, odd: list[str]) -> dict[str, int]:
    """The readable counts."""
    if not isinstance(metrics, dict):
        odd.append(f"public_metrics is {json_type_name(metrics)} instead of an object")
        return {}
    counts: dict[str, int] = {}
    before = len(odd)
    for name in _COUNTS:
        if name not in metrics:
            continue
        value = metrics[name]
        number = _whole_number(value)
        if number is not None and type(value) is not int:
            odd.append(f"{name} is {str(value)[:20]}, taken as {number}")
        if number is None or not 0 <= number <= (INT8 if name == "impression_count" else INT4):
            odd.append(f"{name} is {str(value)[:20]}, left out")
        else:
            counts[name] = number
    if not counts and len(odd) == before:
        odd.append("there is no count in it")
    return counts


def _whole_number(value: Any) -> int | None:
    """The whole number that is meant by 1, 1.0, "1" or "1.0"."""
    if type(value) is int:
        return value
    try:
        number = float(value) if isinstance(value, float | str) else None
    except ValueError:
        return None
    # Beyond this not every whole number is a float.
    if number is None or not abs(number) <= 2**53 or number != int(number):
        return None
    return int(number)


def _lenient_time(
    post: Mapping[str, Any],
    read: Callable[[Mapping[str, Any], str], datetime | None],
    odd: list[str],
) -> datetime | None:
    name = "created_at"
    try:
        return read(post, name)
    except Broken:
        pass
    try:
        time = datetime.fromisoformat(post[name])
        if time.tzinfo is None:
            odd.append(f"{name} has no time zone, read as UTC")
            return time.replace(tzinfo=UTC)
        return time.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        odd.append(f"{name} is not a time, taken from the id")
        return None


def _as_id(post: dict[str, Any], name: str, odd: list[str]) -> None:
    """Make it text where it is an integer; remove it where it is not an id."""
    value = post.get(name)
    if value is None:
        return
    if type(value) is int:
        post[name] = str(value)
    try:
        id_of(post[name], name)
    except Broken as fault:
        post.pop(name)
        odd.append(f"{fault}, left out")


def _unless(
    post: dict[str, Any],
    name: str,
    read: Callable[[Mapping[str, Any], str], object],
    odd: list[str],
) -> None:
    """Remove it where it cannot be read."""
    try:
        read(post, name)
    except Broken as fault:
        post.pop(name)
        odd.append(f"{fault}, left out")


def _user_of(value: Mapping[str, Any], name: str) -> object:
    return read_author(value.get(name))


def _is_history(value: Any) -> bool:
    try:
        return value is None or (
            isinstance(value, list) and bool([id_of(one, "version") for one in value])
        )
    except Broken:
        return False
