"""What X said, as plain values: what the rest of the product knows of X's replies.

Whatever comes by the hundred in one reply is a tuple: a frozen dataclass takes four times as long
to make.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

# Why a tweet or an account is not shown. `unavailable` is all that v1.1 says.
Missing = Literal["not_found", "unauthorized", "protected", "suspended", "unavailable"]


class Figures(NamedTuple):
    """Counts of one tweet at one time, in the order of the columns; None where X gave no count."""

    retweets: int | None
    replies: int | None
    likes: int | None
    quotes: int | None
    bookmarks: int | None
    views: int | None


class Link(NamedTuple):
    """A link in a text."""

    url: str  # as it stands in the text: X's own, of t.co
    display: str  # as X shows it
    address: str  # where it leads
    of_media: bool  # to the post's own photo or video


class Entities(NamedTuple):
    """What X recognised in a text; names in lower case, and each thing once."""

    hashtags: tuple[str, ...] = ()
    cashtags: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()


class Post(NamedTuple):
    """One tweet as X shows it, under the id of the version that is shown."""

    id: int
    author_id: int | None
    created_at: datetime | None
    text: str | None
    lang: str
    edit_history: tuple[int, ...]  # oldest first and ends with the newest version
    figures: Figures
    username: str = ""
    # The countries where X withholds it, as "DE FR", and whether for copyright: empty for most.
    withheld: str = ""
    conversation_id: int | None = None
    replied_to: int | None = None
    quoted: int | None = None
    retweeted: int | None = None
    media_keys: tuple[str, ...] = ()
    entities: Entities | None = None


@dataclass(frozen=True, slots=True)
class Account:
    id: int
    username: str
    name: str
    protected: bool


@dataclass(frozen=True, slots=True)
class WindowSeen:
    """A request window as reported in X's headers."""

    endpoint: str
    limit: int
    remaining: int
    resets_at: datetime
    # X's clock (the Date header). None when X sent no Date: this host's clock is no substitute.
    seen_at: datetime | None
    limit_a_day: int | None = None  # where X also limits 24 hours
    # The app's 24 hours, which all its tokens share: how many are left, and when they end.
    left_to_app: int | None = None
    app_resets_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Lookup:
    """The answer to one look-up of tweets; each id asked for is in `posts`, `missing` or `broken`,
    or in none of them: then X gave no verdict.
    """

    posts: dict[int, Post]  # shown and well-formed
    missing: dict[int, Missing]  # not shown, and X said why
    broken: dict[int, str]  # shown, but its JSON is not what X documents: why, in a line
    window: WindowSeen | None
    # Single counts that are not what X documents; they are None in the post.
    unread: tuple[str, ...] = ()
    # Those of `posts` that have several versions; the post says which one is shown.
    edited: tuple[int, ...] = ()
    strangers: int = 0  # how many tweets X showed that nobody asked for


@dataclass(frozen=True, slots=True)
class Shown:
    """X showed each tweet that was asked for, in its only version, with nothing but counts.

    A Lookup of the same reply would say no more.
    """

    ids: Sequence[int]  # in the order they were asked in
    figures: tuple[list[int], ...]  # of each column of `Figures`, the numbers in the order of `ids`
    window: WindowSeen | None


@dataclass(frozen=True, slots=True)
class Accounts:
    """The answer to one look-up of accounts; an id in neither has no verdict."""

    accounts: dict[int, Account]
    missing: dict[int, Missing]
    window: WindowSeen | None
