"""Normalises what a person types or pastes for a source of each kind: @nasa, a link, a query.

a name or a link ─> named_source: the source that it means, which may be of another kind than chosen
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from trackers.ingest.sources.models import Source
from trackers.ingest.tweet_ids import ids_in
from trackers.tweets.snowflake import LARGEST_ID

Kind = Source.Kind

# X's limits for pay-per-use customers.
_LONGEST_QUERY, _LONGEST_RULE = 512, 1024
_ID = re.compile(r"[0-9]{1,19}", re.ASCII)
_USERNAME = re.compile(r"[A-Za-z0-9_]{1,15}")
_ON_X = re.compile(r"(?:https?://)?(?:(?:www|mobile|m)\.)?(?:x|twitter)\.com(?:/|$)", re.IGNORECASE)
# The first path segments of X's own pages, which are not usernames.
_PLACES = {"compose", "explore", "hashtag", "home", "i", "intent", "messages", "search", "settings"}


_TAG = re.compile(r"[#＃$]\w{1,100}")
_AT_NAME = re.compile(r"@[A-Za-z0-9_]{1,15}")


class NamedSource(NamedTuple):
    kind: Source.Kind
    of: str


class TweetLinkError(ValueError):
    """It is the link of a post, which is tracked by itself."""


def meant_source(text: str) -> NamedSource | None:
    """The source that a name or a link means by itself: @nasa, #artemis, a link to a profile, a
    hashtag, a search or a list; None: anything else."""
    text = " ".join(text.split())
    kind = Kind.SEARCH if _TAG.fullmatch(text) else None
    if _AT_NAME.fullmatch(text):
        kind = Kind.ACCOUNT
    elif _ON_X.match(text) and " " not in text and not ids_in(text).ids:
        kind = _kind_of_link(text)
    if kind is None:
        return None
    try:
        return NamedSource(kind, named(kind, text))
    except ValueError:
        return None


def as_a_source(text: str) -> str:
    """What is wrong with it among tweets, if it means a source; else empty."""
    meant = meant_source(text)
    return f"names {_IN_WORDS[meant.kind]}, which is added as a source" if meant else ""


_IN_WORDS = {Kind.ACCOUNT: "an account", Kind.SEARCH: "a search", Kind.LIST: "a list"}


def named_source(kind: str, text: str) -> NamedSource:
    """What a person means who chose a kind, and typed or pasted this. A link says which kind it is,
    whatever was chosen; in a search or a rule, a name stands for itself. ValueError as of `named`.
    """
    meant = meant_source(text)
    if meant is None or kind in (Kind.MENTIONS, Kind.STREAM):
        return NamedSource(Kind(kind), named(kind, text))
    is_a_word = kind == Kind.SEARCH and not _ON_X.match(text.strip())
    return NamedSource(Kind.SEARCH, named(kind, text)) if is_a_word else meant


def _kind_of_link(link: str) -> Source.Kind | None:
    first, second, *_ = [*_parts(link), "", ""]
    if first == "i" and second == "lists":
        return Kind.LIST
    if first in ("search", "hashtag"):
        return Kind.SEARCH
    if (first == "i" and second == "user") or (first and first not in _PLACES):
        # The lists of an account have a page each, whose link does not say their number.
        return None if second == "lists" else Kind.ACCOUNT
    return None


def named(kind: str, text: str) -> str:
    """The normalised name: a username or the digits of an account, those of a list, a query or a
    rule.

    Raises ValueError, with a sentence that says what is wrong.
    """
    text = " ".join(text.split())
    if "\0" in text:
        raise ValueError("It has a character that cannot be stored. Type it again.")
    if not text:
        raise ValueError(_EMPTY[Kind(kind)])
    if kind in (Kind.ACCOUNT, Kind.MENTIONS, Kind.LIST) and ids_in(text).is_address:
        raise TweetLinkError("This is the link of a single post, which is tracked by itself.")
    match kind:
        case Kind.ACCOUNT | Kind.MENTIONS:
            return _account(text)
        case Kind.LIST:
            return list_id(text)
        case Kind.SEARCH:
            return _query(text)
        case _:
            return _rule(text)


_EMPTY = {
    Kind.ACCOUNT: "Enter whose posts: a username, such as @nasa, or the account's number.",
    Kind.MENTIONS: "Enter who is mentioned: a username, such as @nasa, or the account's number.",
    Kind.SEARCH: "Enter what to search for, such as #artemis lang:en.",
    Kind.LIST: "Enter which list: its link, or its number.",
    Kind.STREAM: "Enter which posts: a rule, such as #artemis lang:en -is:retweet.",
    Kind.IMPORT: "Enter which file.",
}


def is_same(kind: str, name: str, other: str) -> bool:
    """Whether two names, as `named` returns them, are of one source: X's usernames have no case."""
    if kind in (Kind.ACCOUNT, Kind.MENTIONS):
        return name.lower() == other.lower()
    return name == other


def account_id(name: str) -> int | None:
    """The account's id, if `name`, as `named` returns it, is that rather than a username."""
    return int(name) if name.isdigit() else None


def _account(text: str) -> str:
    """An account's id as its digits, or a username without its @; the @ stays before a username of
    digits alone, or nobody could tell it from an id."""
    digits = text
    if _ON_X.match(text):
        first, second, *rest = [*_parts(text), "", ""]
        digits = rest[0] if (first, second) == ("i", "user") else ""
    if _ID.fullmatch(digits) and 0 < int(digits) <= LARGEST_ID:
        return str(int(digits))
    name = username(text)
    return f"@{name}" if name.isdigit() else name


def username(text: str) -> str:
    """A username without its @, of what a person typed or `named` returned."""
    if _ON_X.match(text):
        text = _username_of_link(text)
    name = text.removeprefix("@")
    if not _USERNAME.fullmatch(name):
        raise ValueError(
            f"“{short(text)}” is not a username, which has 1 to 15 letters, digits or underscores."
        )
    return name


def _username_of_link(link: str) -> str:
    first, *rest = _parts(link) or [""]
    if first == "i" and rest[:1] == ["lists"]:
        raise ValueError("This is a link to a list. Choose “A list” for it.")
    if first in ("search", "hashtag"):
        raise ValueError("This is a link to a search. Choose “A search” for it.")
    if rest[:1] == ["lists"]:
        raise ValueError(_WITHOUT_NUMBER)
    if first in _PLACES or not first:
        raise ValueError("This link does not name an account.")
    return first


_WITHOUT_NUMBER = (
    "This link to a list does not say its number. Open it, and copy its link from “Share”, such as "
    "https://x.com/i/lists/1234."
)


def list_id(text: str) -> str:
    digits = text
    if _ON_X.match(text):
        found = _parts(text)
        digits = found[2] if found[:2] == ["i", "lists"] and len(found) > 2 else ""
        if found[1:2] == ["lists"] and not digits:
            raise ValueError(_WITHOUT_NUMBER)
        if not digits:
            raise ValueError("This is not a link to a list, such as https://x.com/i/lists/1234.")
    if not _ID.fullmatch(digits) or not 0 < int(digits) <= LARGEST_ID:
        raise ValueError(
            f"“{short(text)}” is not a list. Enter its number, or a link such as "
            "https://x.com/i/lists/1234."
        )
    return str(int(digits))


def _query(text: str) -> str:
    query = _query_of_link(text)
    if query == "":
        raise ValueError(_EMPTY[Kind.SEARCH])
    return _no_longer_than(_LONGEST_QUERY, query or text, "X takes searches")


def _rule(text: str) -> str:
    """The link of a profile means the posts of that account."""
    meant = meant_source(text) if _ON_X.match(text) else None
    if meant and meant.kind == Kind.ACCOUNT:
        text = f"from:{meant.of.removeprefix('@')}"
    return _no_longer_than(_LONGEST_RULE, _query_of_link(text) or text, "X takes rules")


def _query_of_link(text: str) -> str | None:
    """What the link of a search or a hashtag searches for; None: it is none."""
    if not _ON_X.match(text):
        return None
    first, second, *_ = [*_parts(text), "", ""]
    if first == "hashtag" and second:
        return f"#{unquote(second)}"
    if first == "search":
        return " ".join(parse_qs(urlsplit(text).query).get("q", [""])[0].split())
    return None


def _no_longer_than(most: int, text: str, takes: str) -> str:
    if len(text) > most:
        raise ValueError(f"{takes} of at most {most:,} characters; this one has {len(text):,}.")
    return text


def _parts(link: str) -> list[str]:
    """The segments of the link's path."""
    path = urlsplit(link if "://" in link else f"https://{link}").path
    return [part for part in path.split("/") if part]


def short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
