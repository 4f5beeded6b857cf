"""The id of a tweet's object: of several, one in a text before a number that may be rounded."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from trackers.ingest.tweet_ids import ids_in
from trackers.xapi.parse.fields import Broken

# The surest first.
_NAMES = (
    "rest_id", "id_str", "tweet_id_str", "tweetIdStr", "tweet_id", "tweetId", "tweetid",
    "status_id", "statusId", "id", "post_id", "postId", "Tweet Id", "Tweet ID", "tweetID",
)  # fmt: skip
_ADDRESSES = (
    "url", "link", "permalink", "tweet_url", "tweetUrl", "tweet_link", "twitterUrl", "permanentUrl",
    "status_url", "guid", "postUrl", "expandedUrl",
)  # fmt: skip
# Ids of fewer digits may be the row's number in somebody's table.
_SHORT = 10**14
# Seconds since 1970 are of ten digits, milliseconds of thirteen.
_SECONDS_BELOW = 10**11


def id_of_object(value: Mapping[str, Any]) -> tuple[int, bool]:
    """The id, and whether it is from an address. Raises Broken if there is none."""
    texts = [id for name in _NAMES if (id := _id_in_text(value.get(name)))]
    if texts and texts[0] >= _SHORT:
        return texts[0], False
    for name in _ADDRESSES:
        address = value.get(name)
        if isinstance(address, str) and (named := ids_in(address)).is_address:
            return named.ids[0], True
    numbers = [number for name in _NAMES if (number := _number(value.get(name)))]
    for id in (*texts, *numbers):
        return id, False
    if any(isinstance(value.get(name), float) for name in _NAMES):
        raise Broken("its id is a number that was rounded, so its last digits are lost")
    raise Broken("there is no id in it")


def _id_in_text(value: Any) -> int | None:
    """Also as MongoDB and Gnip write it."""
    if isinstance(value, dict):
        value = value.get("$numberLong")
    named = ids_in(value) if isinstance(value, str) else None
    return named.ids[0] if named and len(named.ids) == 1 else None


def _number(value: Any) -> int | None:
    if type(value) is not int:
        return None
    named = ids_in(str(value))
    return named.ids[0] if named.ids else None


def time_of(value: Any) -> datetime | None:
    """A time as collectors write it: ISO 8601, in UTC if it does not say, or since 1970."""
    try:
        if isinstance(value, dict):
            value = value.get("$date")
        if isinstance(value, str) and not value.strip().replace(".", "", 1).isdigit():
            at = datetime.fromisoformat(value.strip())
            return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            seconds = float(value)
            seconds = seconds if seconds < _SECONDS_BELOW else seconds / 1000
            return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None
