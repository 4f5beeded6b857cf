"""Posts that appear: a flow creates them at a rate, and shows each one some time later.

A post's number, id, birth and lag follow from one another, so no post of a flow is stored. The ids
are in order of birth, to the millisecond; the lags make posts appear out of that order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from math import exp
from typing import Any

from fakex.world.ids import LOW_BITS, MASK, TWEPOCH_MS, Ids, mix
from fakex.world.traits import GAUSS

# Of the 2^22 ids in a millisecond the upper half is for flows: flow number, then turn.
_FLOWS_BEGIN = 1 << 21
_FLOW_BITS, _TURN_BITS = 9, 12
MOST_FLOWS, _MOST_A_MS = 1 << _FLOW_BITS, 1 << _TURN_BITS
_LONGEST_USUAL_MS = 1_000
_RATE_UNIT = 1_000_000_000  # rates are whole posts per million seconds; births, whole ms


@dataclass(frozen=True, slots=True)
class Lag:
    """How long after its birth a post appears (ms); shares are of all posts.

    Most take about `usual_ms`, log-normal, a second at most; the others any time between.
    """

    usual_ms: float = 300
    late_share: float = 0.01
    late_ms: tuple[int, int] = (1_000, 10_000)
    very_late_share: float = 0.001
    very_late_ms: tuple[int, int] = (10_000, 60_000)

    def of(self, draw: int) -> int:
        fate, place = (draw & 0xFFFFFF) / (1 << 24), (draw >> 24 & 0xFFFFFF) / (1 << 24)
        if fate < self.very_late_share:
            least, most = self.very_late_ms
        elif fate < self.very_late_share + self.late_share:
            least, most = self.late_ms
        else:
            usual_ms = self.usual_ms * exp(0.5 * GAUSS[draw >> 48 & 0xFFFF])
            return int(min(usual_ms, max(_LONGEST_USUAL_MS, self.usual_ms)))
        return int(least + place * (most - least))

    @property
    def longest_ms(self) -> int:
        longest = max(_LONGEST_USUAL_MS, int(self.usual_ms))
        longest = max(longest, self.late_ms[1] if self.late_share else 0)
        return max(longest, self.very_late_ms[1] if self.very_late_share else 0)


@dataclass(frozen=True, slots=True)
class Flow:
    """Posts that some authors publish, evenly by a rate. Shares are of all posts."""

    number: int
    seed: int
    set_ms: int  # when the flow was set: posts born earlier appear no sooner
    from_ms: int  # they begin here
    micro_rate: int  # posts per million seconds
    count: int
    authors: tuple[int, ...]  # numbers of the world's people
    lag: Lag = Lag()
    tags: tuple[str, ...] = ()  # without their #
    replies: float = 0.15
    retweets: float = 0.15
    quotes: float = 0.05
    mentions: float = 0.1
    links: float = 0.1
    tagged: float = 0.3

    @property
    def name(self) -> tuple[int, int]:
        """The part that stays the same when the flow is ended early."""
        return self.number, self.set_ms

    def born_ms(self, number: int) -> int:
        return self.from_ms + number * _RATE_UNIT // self.micro_rate

    def first_at(self, at_ms: int) -> int:
        """The number of the first post born at `at_ms` or later; 0 to `count`."""
        since = at_ms - self.from_ms
        return min(self.count, max(0, -(-since * self.micro_rate // _RATE_UNIT)))

    def id_at(self, number: int, ids: Ids) -> int:
        born_ms = self.born_ms(number)
        turn = number - self.first_at(born_ms)
        return ids.put(born_ms, _FLOWS_BEGIN | self.number << _TURN_BITS | turn)

    def visible_ms(self, number: int) -> int:
        return max(self.set_ms, self.born_ms(number) + self.lag.of(self.draw(number, 1)))

    def author(self, number: int) -> int:
        return self.authors[self.draw(number, 2) % len(self.authors)]

    def draw(self, number: int, purpose: int) -> int:
        """64 random bits of post `number`, different for each purpose."""
        return mix((self.seed * 0x9E3779B97F4A7C15 + number * 0xD1342543DE82EF95 + purpose) & MASK)

    def to_dict(self, now_ms: int) -> dict[str, Any]:
        born = self.first_at(now_ms + 1)
        return {
            **{f.name: getattr(self, f.name) for f in fields(self) if f.name not in _HIDDEN},
            "lag": {f.name: getattr(self.lag, f.name) for f in fields(Lag)},
            "rate": self.micro_rate / 1_000_000,
            "until_ms": self.born_ms(self.count),
            "born": born,
            "authors": len(self.authors),
        }


_HIDDEN = frozenset({"lag", "authors", "micro_rate", "seed"})


@dataclass(frozen=True, slots=True)
class Flows:
    """All flows of a world by their numbers."""

    flows: Mapping[int, Flow] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Flow]:
        return iter(self.flows.values())

    def find(self, tweet_id: int, ids: Ids) -> tuple[Flow, int] | None:
        """The flow and number of a post, or None when no flow ever has a post with this id."""
        if not self.flows or tweet_id >> 63:
            return None
        place = ids.place(tweet_id)
        flow = self.flows.get(place >> _TURN_BITS & (MOST_FLOWS - 1))
        if place < _FLOWS_BEGIN or flow is None:
            return None
        born_ms = (tweet_id >> LOW_BITS) + TWEPOCH_MS
        number = flow.first_at(born_ms) + (place & (_MOST_A_MS - 1))
        if born_ms < flow.from_ms or number >= flow.count or flow.born_ms(number) != born_ms:
            return None
        return flow, number

    def with_flow(self, flow: Flow) -> Flows:
        return Flows({**self.flows, flow.number: flow})
