"""Normalises what a person types or pastes for a source of each kind: @nasa, a link, a query."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from trackers.ingest.sources.models import Source
from trackers.tweets.snowflake import LARGEST_ID

Kind = Source.Kind

# X's limits for pay-per-use customers.
_LONGEST_QUERY, _LONGEST_RULE = 512, 1024
_ID = re.compile(r"[0-9]{1,19}", re.ASCII)
_USERNAME = re.compile(r"[A-Za-z0-9_]{1,15}")
_ON_X = re.compile(r"(?:https?://)?(?:(?:www|mobile|m)\.)?(?:x|twitter)\.com(?:/|$)", re.IGNORECASE)
# The first path segments of X's own pages, which are not usernames.
_PLACES = {"compose", "explore", "hashtag", "home", "i", "intent", "messages", "search", "settings"}


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
    if first == "search":
        raise ValueError("This is a link to a search. Choose “A search” for it.")
    if first in _PLACES or not first:
        raise ValueError("This link does not name an account.")
    if rest[:1] == ["status"]:
        raise ValueError(
            "This is a link to a single post. Use “Track tweets” on the page of tweets."
        )
    return first


def list_id(text: str) -> str:
    digits = text
    if _ON_X.match(text):
        found = _parts(text)
        digits = found[2] if found[:2] == ["i", "lists"] and len(found) > 2 else ""
        if not digits:
            raise ValueError("This is not a link to a list, such as https://x.com/i/lists/1234.")
    if not _ID.fullmatch(digits) or not 0 < int(digits) <= LARGEST_ID:
        raise ValueError(
            f"“{short(text)}” is not a list. Enter its number, or a link such as "
            "https://x.com/i/lists/1234."
        )
    return str(int(digits))


def _query(text: str) -> str:
    if _ON_X.match(text) and _parts(text)[:1] == ["search"]:
        text = " ".join(parse_qs(urlsplit(text).query).get("q", [""])[0].split())
        if not text:
            raise ValueError(_EMPTY[Kind.SEARCH])
    return _no_longer_than(_LONGEST_QUERY, text, "X takes searches")


def _rule(text: str) -> str:
    return _no_longer_than(_LONGEST_RULE, text, "X takes rules")


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
