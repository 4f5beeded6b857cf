"""What a tweet's id determines permanently, and its counts at any age: pure functions.

Views follow a Lomax curve (half at about 80 minutes, 95 % in a day: Pfeffer, Matter, Sargsyan,
ICWSM 2023) after a ramp of 72 s; every other count is thinned from the views.
"""

from __future__ import annotations

from math import ceil, exp, log
from statistics import NormalDist
from typing import NamedTuple

from fakex.world.ids import DAY, HOUR, MASK, MINUTE, mix

_LOMAX_POWER = -1.05
_LOMAX_SCALE_MS = 85.6 * MINUTE
_RAMP = -1 / 72_000
_RAMP_ENDS_MS = 30 * MINUTE  # where the ramp is below one view in 70 billion
# Rates are in units of 2^-24 of a view: shifts are cheaper than rounding.
_RATE_BITS = 24
_VIEWS_SINCE_MS = 1672876800000  # 2023-01-05: X reports no views of older tweets

DELETED, TROUBLED, _FALLS, _REVIVES, _UNVIEWED, RELEASED, RETWEET = 1, 2, 4, 8, 16, 32, 64
HIDEABLE = DELETED | TROUBLED
_UNEVEN = _FALLS | _REVIVES | _UNVIEWED | RETWEET

GAUSS = [NormalDist().inv_cdf((n + 0.5) / 65536) for n in range(65536)]


class Shares(NamedTuple):
    """Shares of all tweets that one day are deleted, lose counts, come back, or start slowly."""

    deleted: float = 0.02
    falling: float = 0.03
    reviving: float = 0.015
    slow: float = 0.08


class Traits(NamedTuple):
    """One tweet. A NamedTuple costs half as much as a dataclass, and an answer reads a hundred."""

    id: int
    born_ms: int
    lead_ms: int  # its age at the world's start, -1 when it is born later
    flags: int
    views: float
    pace: float  # 1 / scale (ms)
    retweets: int
    replies: int
    likes: int
    quotes: int
    bookmarks: int
    phase: int
    turn_ms: float
    author: int
    text: int


# Retweets, replies, likes, quotes, bookmarks, views: unnamed, as they are created in bulk.
Figures = tuple[int, int, int, int, int, int]


class Counts(NamedTuple):
    """Figures with names, where speed does not matter."""

    retweets: int
    replies: int
    likes: int
    quotes: int
    bookmarks: int
    views: int


def derive(
    tweet_id: int, *, born_ms: int, start_ms: int, seed: int, authors: int, shares: Shares
) -> Traits:
    """Draw a tweet's traits from its id."""
    first = mix((tweet_id ^ seed * 0x9E3779B97F4A7C15) & MASK)
    second = mix((first + 0x9E3779B97F4A7C15) & MASK)
    third = mix((second + 0x9E3779B97F4A7C15) & MASK)
    likes = int(min(0.2, 0.025 * exp(0.6 * GAUSS[first & 0xFFFF])) * (1 << _RATE_BITS))
    flags, turn_ms = _fate(second, shares)
    slowness = exp(GAUSS[first >> 16 & 0xFFFF])
    if (second >> 48) / 65536 < shares.slow:
        slowness *= 8
    if born_ms < _VIEWS_SINCE_MS:
        flags |= _UNVIEWED
    return Traits(
        id=tweet_id,
        born_ms=born_ms,
        lead_ms=start_ms - born_ms if born_ms < start_ms else -1,
        flags=flags,
        views=min(5e7, 40 + 2000 * exp(2 * GAUSS[first >> 32 & 0xFFFF])),
        pace=1 / (_LOMAX_SCALE_MS * min(30.0, max(0.05, slowness))),
        retweets=likes * (25 + (third & 0xFF) // 5) >> 8,
        replies=likes * (13 + (third >> 8 & 0xFF) // 5) >> 8,
        likes=likes,
        quotes=likes * (3 + (third >> 16 & 0xFF) // 20) >> 8,
        bookmarks=likes * (5 + (third >> 24 & 0xFF) // 7) >> 8,
        phase=third >> 32 & 0xFF_FFFF,
        turn_ms=turn_ms,
        # Squared: a few authors write a lot, most write little.
        author=int(authors * ((first >> 48) / 65536) ** 2),
        text=third >> 56 & 0xFF | second >> 24 & 0xF00,
    )


def _fate(draw: int, shares: Shares) -> tuple[int, float]:
    """The tweet's one special fate, if any, and the age or period (ms) that belongs to it."""
    fate, when = (draw & 0xFFFF) / 65536, (draw >> 16 & 0xFFFF) / 65536
    if fate < shares.deleted:
        return DELETED, -3 * HOUR * log(1 - when)
    fate -= shares.deleted
    if fate < shares.falling:
        return _FALLS, 10 * MINUTE + when * 50 * MINUTE
    fate -= shares.falling
    if fate < shares.reviving:
        return _REVIVES, DAY + when * 20 * DAY
    return 0, 0.0


def count(tweet: Traits, age_ms: float) -> Figures:
    """The tweet's figures when it is `age_ms` old (world time); whole numbers, never negative."""
    # Unpacked at once: accessing a field by name costs more than the sum it is used in.
    (
        _id,
        _born_ms,
        _lead_ms,
        flags,
        size,
        pace,
        retweets,
        replies,
        likes,
        quotes,
        bookmarks,
        phase,
        turn_ms,
        _author,
        _text,
    ) = tweet
    seen = size - size * (1.0 + age_ms * pace) ** _LOMAX_POWER
    if age_ms < _RAMP_ENDS_MS:
        seen *= 1.0 - exp(age_ms * _RAMP)
    if flags & _REVIVES and age_ms > turn_ms:
        seen += 0.6 * size * (1.0 - (1.0 + (age_ms - turn_ms) * pace) ** _LOMAX_POWER)
    views = int(seen)
    figures = (
        (views * retweets + phase) >> _RATE_BITS,
        (views * replies + phase) >> _RATE_BITS,
        (views * likes + phase) >> _RATE_BITS,
        (views * quotes + phase) >> _RATE_BITS,
        (views * bookmarks + phase) >> _RATE_BITS,
        views,
    )
    return _uneven(tweet, age_ms, figures) if flags & _UNEVEN else figures


def count_busily(tweet: Traits, age_ms: float) -> Figures:
    """Like `count`, plus steady growth of more than one a second, so that every reading differs."""
    retweets, replies, likes, quotes, bookmarks, views = count(tweet, age_ms)
    seconds = age_ms / 1000
    if tweet.flags & RETWEET:
        return retweets + int(seconds * 1.1), 0, 0, 0, 0, 0
    return (
        retweets + int(seconds * 1.1),
        replies,
        likes + int(seconds * 1.25),
        quotes,
        bookmarks,
        0 if tweet.flags & _UNVIEWED else views + int(seconds * 3.1),
    )


def _uneven(tweet: Traits, age_ms: float, figures: Figures) -> Figures:
    retweets, replies, likes, quotes, bookmarks, views = figures
    if tweet.flags & RETWEET:
        # X gives a retweet only the original's retweet count; here it has a curve of its own.
        return retweets, 0, 0, 0, 0, 0
    if tweet.flags & _FALLS and int(age_ms / tweet.turn_ms) % 2:
        likes -= ceil(likes * 0.04)
        retweets -= ceil(retweets * 0.04)
    if tweet.flags & _UNVIEWED:
        views = 0
    return retweets, replies, likes, quotes, bookmarks, views
