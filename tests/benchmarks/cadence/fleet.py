"""A fleet of tweets that share X's windows: who is looked at when there is not room for all.

Tweets are born all the time; the last days are measured, when there are tweets of every age. The
curves are used again and again, each time with another birth.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.benchmarks.cadence.cadences import JITTER, Cadence, State, row
from tests.benchmarks.cadence.errors import Errors, Look, mean
from tests.benchmarks.cadence.world import DAY, HOUR, LAST_AGE, Tweet
from trackers.schedule.adapt import Bounds
from trackers.schedule.stretch.solve import WINDOW_S, Group, needed_stretch

DAYS, MEASURED_DAYS = 34, 4
END, BEGIN = DAYS * DAY, (DAYS - MEASURED_DAYS) * DAY
STEP_S = 10
# Old tweets are let into a window at its own pace and this much ahead; the young at any time.
AHEAD = 0.1
# Until shortly before the measured days a stretch an hour is enough.
OFTEN_FROM = BEGIN - DAY
# Those older than a day are grouped anew every six hours: they hardly change meanwhile.
SETTLED_FROM, SETTLED_FOR = DAY, 6 * HOUR


@dataclass(slots=True)
class Member:
    """One tweet of the fleet, born at this second of the simulation."""

    tweet: Tweet
    born: float
    lookups: list[Look] = field(default_factory=list)
    state: State = field(default_factory=State)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The errors, and by how many seconds the look-ups of the first row were late on average."""

    errors: Errors
    lookups: int
    late: float
    stretch: float


@dataclass(slots=True)
class Windows:
    """Look-ups of the fleet with `room` look-ups a quarter of an hour, those due first first.

    With `bounds`, those of the adapting rows, waits are stretched. `young_first`, as in the queue:
    those of the first row come at any time, and the others evenly over each window.
    """

    members: Sequence[Member]
    cadence: Cadence
    room: float
    bounds: Sequence[Bounds] | None
    young_first: bool
    chance: random.Random
    # (due at, place among the members): not due yet; due; due, and young.
    ahead: list[tuple[float, int]] = field(default_factory=list)
    waiting: list[tuple[float, int]] = field(default_factory=list)
    young: list[tuple[float, int]] = field(default_factory=list)
    # Places of tweets that are looked at, young or new ones and the others, grouped.
    fresh: set[int] = field(default_factory=set)
    settled: set[int] = field(default_factory=set)
    settled_groups: list[Group] = field(default_factory=list)
    settled_at: int = 0
    window: int = -1
    used: int = 0
    stretch: float = 1.0
    stretches: list[float] = field(default_factory=list)
    # Of the look-ups in the first row: by how much each was late.
    late: list[float] = field(default_factory=list)

    def run(self) -> None:
        self.ahead = [
            (member.born + member.tweet.found, place) for place, member in enumerate(self.members)
        ]
        heapq.heapify(self.ahead)
        now = 0
        while now < END:
            if now // WINDOW_S != self.window:
                self.open_window(now)
            self.gather(now)
            self.spend(now)
            now = self.next_step(now)

    def open_window(self, now: int) -> None:
        self.window, self.used = int(now // WINDOW_S), 0
        if self.bounds and (now >= OFTEN_FROM or now % HOUR < WINDOW_S):
            self.stretch = needed_stretch(
                self.groups(self.bounds, now), room=self.room, backlog=len(self.waiting)
            )
        if now >= BEGIN:
            self.stretches.append(self.stretch)

    def gather(self, now: int) -> None:
        """What has fallen due."""
        while self.ahead and self.ahead[0][0] <= now:
            due_at, place = heapq.heappop(self.ahead)
            if self.bounds and place not in self.settled:
                self.fresh.add(place)
            # What was never looked at comes with the young, as new tweets do.
            is_young = self.young_first and row(due_at - self.members[place].born) == 0
            heapq.heappush(self.young if is_young else self.waiting, (due_at, place))

    def spend(self, now: int) -> None:
        """Look up as many as the window has room for."""
        even = self.room
        if self.young_first:
            even = (now % WINDOW_S / WINDOW_S + AHEAD) * self.room
        while self.used < self.room and (self.young or (self.waiting and self.used < even)):
            due_at, place = heapq.heappop(self.young or self.waiting)
            self.used += 1
            self.look(place, due_at, now)

    def look(self, place: int, due_at: float, now: int) -> None:
        member = self.members[place]
        age = now - member.born
        if age >= LAST_AGE:
            self.forget(place)
            return
        if now >= BEGIN and row(due_at - member.born) == 0:
            self.late.append(now - due_at)
        look = age, member.tweet.at(age)
        wait = self.cadence(age, look, member.state, self.stretch)
        member.state.last = look
        member.lookups.append(look)
        again = now + wait * (1 + JITTER * (2 * self.chance.random() - 1))
        if again - member.born < LAST_AGE:
            heapq.heappush(self.ahead, (again, place))
        else:
            self.forget(place)

    def forget(self, place: int) -> None:
        self.fresh.discard(place)
        self.settled.discard(place)

    def groups(self, bounds: Sequence[Bounds], now: int) -> list[Group]:
        if now >= self.settled_at + SETTLED_FOR:
            self.settled_at = now
            old = {one for one in self.fresh if now - self.members[one].born >= SETTLED_FROM}
            self.fresh -= old
            self.settled |= old
            self.settled_groups = groups(self.members, self.settled, bounds, now)
        return [*self.settled_groups, *groups(self.members, self.fresh, bounds, now)]

    def next_step(self, now: int) -> int:
        """When something can happen again: a window opens, a tweet falls due, an old one's turn."""
        opens = int((now // WINDOW_S + 1) * WINDOW_S)
        if self.used >= self.room:
            return opens
        soonest = opens
        if self.ahead:
            # Later than now: what has fallen due is gathered.
            soonest = math.ceil(self.ahead[0][0] / STEP_S) * STEP_S
        if self.waiting:
            passed = (self.used / self.room - AHEAD) * WINDOW_S
            turn = int((opens - WINDOW_S + passed) // STEP_S) * STEP_S
            soonest = min(soonest, max(turn, now + STEP_S))
        return min(opens, soonest)

    def outcome(self) -> Outcome:
        errors = Errors()
        for member in self.members:
            since = max(member.tweet.found, BEGIN - member.born)
            until = min(LAST_AGE, END - member.born)
            if since < until:
                errors.add(member.tweet, member.lookups, since=since, until=until)
        return Outcome(
            errors,
            sum(member.born + age >= BEGIN for member in self.members for age, _ in member.lookups),
            mean(self.late),
            mean(self.stretches),
        )


def fleet(world: Sequence[Tweet], *, births_a_day: int, seed: int) -> list[Member]:
    """Those found late are as old as in the world, only that it is here by the births' clock."""
    chance = random.Random(seed)
    return [
        Member(world[number % len(world)], chance.uniform(0, END))
        for number in range(births_a_day * DAYS)
    ]


def run(
    members: Sequence[Member],
    cadence: Cadence,
    *,
    room: float,
    bounds: Sequence[Bounds] | None = None,
    young_first: bool = False,
    seed: int = 1,
) -> Outcome:
    windows = Windows(members, cadence, room, bounds, young_first, random.Random(seed))
    windows.run()
    return windows.outcome()


def groups(
    members: Sequence[Member], places: set[int], bounds: Sequence[Bounds], now: float
) -> list[Group]:
    """The fleet by age and pace; each step is twice the one before."""
    counted: dict[tuple[int, int, int], int] = defaultdict(int)
    for place in places:
        member = members[place]
        age = now - member.born
        pace, last = member.state.pace, member.state.last
        if pace is None or last is None:
            continue
        # A pace falls with age: it was that of the last look-up.
        share = pace * max(last[0], 1.0)
        counted[row(age), int(age).bit_length(), int(share * 1024).bit_length()] += 1
    return [
        Group(many, 0.75 * 2**age, 0.75 * 2**share / 1024 / (0.75 * 2**age), bounds[tier])
        for (tier, age, share), many in counted.items()
    ]
