"""What X said, as plain values: what the rest of the product knows of X's replies.

What there is a hundred of in each reply is a tuple: a frozen dataclass takes four times as long to
make.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

# Why a tweet or an account is not shown. `unavailable` is all that v1.1 says.
Missing = Literal["not_found", "unauthorized", "protected", "suspended", "unavailable"]


class Figures(NamedTuple):
    """Counts of one tweet at one time, in the order of the columns; None where X did not tell."""

    retweets: int | None
    replies: int | None
    likes: int | None
    quotes: int | None
    bookmarks: int | None
    impressions: int | None


class Post(NamedTuple):
    """One tweet as X shows it, under the id of the version that is shown. `edit_history` is oldest
    first and ends with the newest version."""

    id: int
    author_id: int | None
    created_at: datetime | None
    text: str | None
    lang: str
    edit_history: tuple[int, ...]
    figures: Figures
    username: str = ""
    # Where X does not show it, as "DE FR", and whether for copyright: empty for most.
    withheld: str = ""
    conversation_id: int | None = None
    replied_to: int | None = None
    quoted: int | None = None
    retweeted: int | None = None
    media_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Account:
    id: int
    username: str
    name: str
    protected: bool


@dataclass(frozen=True, slots=True)
class WindowSeen:
    """A request window as X's headers tell of it.

    `seen_at` is X's clock (the Date header), None when X did not tell: no time is better than that
    of this host.
    """

    endpoint: str
    limit: int
    remaining: int
    resets_at: datetime
    seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class Lookup:
    """The answer to one look-up of tweets; every id asked is in one of the three, or in none.

    posts: shown, and well-formed. missing: not shown, X said why. broken: shown, but its JSON is
    not what X documents (a one-line reason). In none of the three: X gave no verdict.
    unread: single counts of posts that are not what X documents; these are unknown there.
    edited: those of `posts` that have several versions; which one is shown, their post says.
    strangers: how many others X showed, that nobody asked for.
    """

    posts: dict[int, Post]
    missing: dict[int, Missing]
    broken: dict[int, str]
    window: WindowSeen | None
    unread: tuple[str, ...] = ()
    edited: tuple[int, ...] = ()
    strangers: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """X showed each tweet that was asked for, in its only version, and told nothing but counts.

    What a Lookup would say of it is that and no more. figures: a list of whole numbers for each of
    the columns of `Figures`, in the order of `ids`, which are as they were asked for.
    """

    ids: Sequence[int]
    figures: tuple[list[int], ...]
    window: WindowSeen | None


@dataclass(frozen=True, slots=True)
class Accounts:
    """The answer to one look-up of accounts; an id in neither has no verdict."""

    accounts: dict[int, Account]
    missing: dict[int, Missing]
    window: WindowSeen | None
