"""A fleet of tweets that share X's windows: who is looked at when there is not room for all.

Tweets are born all the time; the last days are measured, when there are tweets of every age. The
curves are used again and again, each time with another birth.
"""

from __future__ import annotations

import heapq
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.benchmarks.cadence.cadences import JITTER, Cadence, State, row
from tests.benchmarks.cadence.errors import Errors, Look
from tests.benchmarks.cadence.world import DAY, LAST_AGE, Tweet
from trackers.schedule.adapt import Bounds
from trackers.schedule.stretch import WINDOW_S, Group, needed_stretch

BIRTHS_A_DAY = 60
DAYS, MEASURED_DAYS = 34, 4
STEP_S = 10
# Old tweets are let into a window at its own pace and this much ahead; the young at any time.
AHEAD = 0.1


@dataclass(slots=True)
class Member:
    """One tweet of the fleet, born at this second of the simulation."""

    tweet: Tweet
    born: float
    found: float
    looks: list[Look] = field(default_factory=list)
    state: State = field(default_factory=State)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The errors, and by how many seconds the looks of the first row were late on average."""

    errors: Errors
    looks: int
    late: float
    stretch: float


def fleet(world: Sequence[Tweet], *, seed: int) -> list[Member]:
    chance = random.Random(seed)
    members = []
    for number in range(BIRTHS_A_DAY * DAYS):
        tweet = world[number % len(world)]
        # Those found late are as old as in the world, only that it is here by the births' clock.
        members.append(Member(tweet, chance.uniform(0, DAYS * DAY), tweet.found))
    return members


def run(
    members: Sequence[Member],
    cadence: Cadence,
    *,
    room: float,
    bounds: Sequence[Bounds] | None = None,
    seed: int = 1,
) -> Outcome:
    """Look at the fleet with `room` looks a quarter of an hour, those due first first.

    With `bounds`, those of the adapting rows, waits are stretched, and old tweets spread evenly
    over each window.
    """
    chance = random.Random(seed)
    due = [(member.born + member.found, place) for place, member in enumerate(members)]
    heapq.heapify(due)
    waiting: list[tuple[float, int]] = []
    young: list[tuple[float, int]] = []
    alive: set[int] = set()
    used, stretch, window = 0.0, 1.0, -1
    late = first_row = 0.0
    stretches: list[float] = []
    begin = (DAYS - MEASURED_DAYS) * DAY
    for now in range(0, DAYS * DAY, STEP_S):
        if now // WINDOW_S != window:
            window, used = now // WINDOW_S, 0.0
            if bounds:
                stretch = needed_stretch(
                    groups(members, alive, bounds, now), room=room, backlog=len(waiting)
                )
                if now >= begin:
                    stretches.append(stretch)
        while due and due[0][0] <= now:
            one = heapq.heappop(due)
            member = members[one[1]]
            alive.add(one[1])
            # What was never looked at comes with the young, as new tweets do.
            is_young = bounds and row(one[0] - member.born) == 0
            heapq.heappush(young if is_young else waiting, one)
        pace = (now % WINDOW_S / WINDOW_S + AHEAD) * room if bounds else room
        while used < room and (young or (waiting and used < pace)):
            at, place = heapq.heappop(young or waiting)
            used += 1
            member = members[place]
            age = now - member.born
            if age >= LAST_AGE:
                alive.discard(place)
                continue
            if now >= begin and row(at - member.born) == 0:
                late += now - at
                first_row += 1
            look = age, member.tweet.at(age)
            wait = cadence(age, look, member.state, stretch)
            member.state.last = look
            member.looks.append(look)
            again = now + wait * (1 + JITTER * (2 * chance.random() - 1))
            if again - member.born < LAST_AGE:
                heapq.heappush(due, (again, place))
            else:
                alive.discard(place)
    errors = Errors()
    for member in members:
        since = max(member.found, begin - member.born)
        until = min(LAST_AGE, DAYS * DAY - member.born)
        if since < until:
            errors.add(member.tweet, member.looks, since=since, until=until)
    return Outcome(
        errors,
        sum(begin <= member.born + age for member in members for age, _ in member.looks),
        late / max(1, first_row),
        sum(stretches) / len(stretches) if stretches else 1.0,
    )


def groups(
    members: Sequence[Member], alive: set[int], bounds: Sequence[Bounds], now: float
) -> list[Group]:
    """The fleet by age and pace, in steps of a fifth or so."""
    counted: dict[tuple[int, int, int], int] = defaultdict(int)
    for place in alive:
        member = members[place]
        age = now - member.born
        pace = member.state.pace
        if pace is None or member.state.last is None:
            continue
        # A pace falls with age: it was that of the last look.
        share = pace * max(member.state.last[0], 1.0)
        counted[row(age), int(age).bit_length(), int(share * 1024).bit_length()] += 1
    return [
        Group(many, 0.75 * 2**age, 0.75 * 2**share / 1024 / (0.75 * 2**age), bounds[tier])
        for (tier, age, share), many in counted.items()
    ]
