"""Tweet ids: which exist, when each was born, and the world's N of them by number.

Existence is decided from the id alone, so ten million tweets take no memory: a millisecond holds
`per_ms` tweets whose low 22 bits are a seeded walk, which is inverted to check an id.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

TWEPOCH_MS = 1288834974657
_PRE_SNOWFLAKE = 1 << 35
_FIRST_TWEET_MS = 1142899200000  # 2006-03-21
_LAST_PLAIN_MS = TWEPOCH_MS

LOW_BITS = 22
_LOW_MASK = (1 << LOW_BITS) - 1
# Any odd number can be inverted modulo 2^22; this one scatters neighbours.
_STRIDE = 0x2545F5
_UNSTRIDE = pow(_STRIDE, -1, 1 << LOW_BITS)

MASK = (1 << 64) - 1
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


@dataclass(frozen=True, slots=True)
class Tier:
    """Tweets aged youngest_ms <= age < oldest_ms at the world's start: `share` of each 100."""

    youngest_ms: int
    oldest_ms: int
    share: int


_TIERS = (
    Tier(0, 18 * MINUTE, 25),
    Tier(18 * MINUTE, HOUR, 20),
    Tier(HOUR, DAY, 25),
    Tier(DAY, 7 * DAY, 20),
    Tier(7 * DAY, 30 * DAY, 8),
    Tier(30 * DAY, 60 * DAY, 2),
)


def mix(number: int) -> int:
    """Scatter a 64-bit number (the finalizer of SplitMix64)."""
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & MASK
    return number ^ (number >> 31)


def _tiers_in_turn() -> list[int]:
    """The tier of each of a hundred tweets, arranged so that every run of ids holds all ages."""
    turns = [n for n, tier in enumerate(_TIERS) for _ in range(tier.share)]
    return [turns[place * 37 % 100] for place in range(100)]


_TURNS = _tiers_in_turn()
_PLACES = [_TURNS[:place].count(_TURNS[place]) for place in range(100)]


def _coprime_step(count: int) -> int:
    """A step near the golden section of `count` that visits every place once."""
    step = max(1, round(count * 0.6180339887))
    while math.gcd(step, count) != 1:
        step += 1
    return step


class Ids:
    """The ids of one world: `seed`, `tweets` of them by number, born before `start_ms`."""

    def __init__(self, *, seed: int, tweets: int, start_ms: int) -> None:
        self.tweets, self.start_ms = tweets, start_ms
        self._key = mix((seed * 0x9E3779B97F4A7C15 + 1) & MASK)
        full, rest = divmod(tweets, 100)
        self._counts = [full * tier.share + _TURNS[:rest].count(n) for n, tier in enumerate(_TIERS)]
        self._steps = [_coprime_step(max(1, count)) for count in self._counts]
        self.per_ms = max(
            1,
            *(
                math.ceil(count / (tier.oldest_ms - tier.youngest_ms))
                for count, tier in zip(self._counts, _TIERS, strict=True)
            ),
        )

    def born_ms(self, tweet_id: int) -> int | None:
        """Epoch ms of the tweet's birth, or None when no such tweet ever exists."""
        if tweet_id < _PRE_SNOWFLAKE:
            return self._plain_born_ms(tweet_id)
        if tweet_id >> 63:
            return None
        since = tweet_id >> LOW_BITS
        return since + TWEPOCH_MS if self.place(tweet_id) < self.per_ms else None

    def place(self, tweet_id: int) -> int:
        """The place of a snowflake id in its millisecond, 0 to 2^22 - 1; scattered in its bits."""
        return ((tweet_id - self._offset(tweet_id >> LOW_BITS)) * _UNSTRIDE) & _LOW_MASK

    def put(self, born_ms: int, place: int) -> int:
        """The snowflake id of this place in a millisecond."""
        since = born_ms - TWEPOCH_MS
        return since << LOW_BITS | (place * _STRIDE + self._offset(since)) & _LOW_MASK

    def id_at(self, index: int) -> int:
        """The id of tweet number `index`, 0 <= index < tweets; unique."""
        hundred, place = divmod(index, 100)
        tier_number = _TURNS[place]
        tier, count = _TIERS[tier_number], self._counts[tier_number]
        turn = (hundred * tier.share + _PLACES[place]) * self._steps[tier_number] % count
        slots = (tier.oldest_ms - tier.youngest_ms) * self.per_ms
        slot, end = turn * slots // count, (turn + 1) * slots // count
        slot += mix(self._key ^ index) % (end - slot)
        age, place = divmod(slot, self.per_ms)
        return self.put(self.start_ms - 1 - tier.youngest_ms - age, place)

    def between(self, first: int, end: int) -> Iterator[int]:
        return map(self.id_at, range(max(0, first), min(end, self.tweets)))

    def _offset(self, since: int) -> int:
        return mix(since ^ self._key) & _LOW_MASK

    def _plain_born_ms(self, tweet_id: int) -> int | None:
        if tweet_id < 1 or mix(tweet_id ^ self._key) % 10 == 0:
            return None
        return _FIRST_TWEET_MS + (_LAST_PLAIN_MS - _FIRST_TWEET_MS) * tweet_id // _PRE_SNOWFLAKE
