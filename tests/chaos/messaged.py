"""What must hold of channels at the end: each alert came at least once, and no rule starved."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

# How each service treats what comes.
WELL, SLOW, DOWN, THROTTLED = CHANNELS = ("well", "slow", "down", "throttled")
LOUD, QUIET = RULES = ("loud", "quiet")


class Told(NamedTuple):
    """A row of what a channel is told: its number, of which rule, how many alerts. `together`: of
    the rows that were settled as one message the same; None: it is not sent."""

    channel: str
    rule: str
    number: int
    alerts: int
    together: float | None


@dataclass(frozen=True, slots=True)
class Came:
    """A message that a service took: which rows its lines are of, and how many alerts it counts."""

    rows: frozenset[int]
    alerts: int


@dataclass(frozen=True)
class Messaged:
    """`came`: what each service took. `did`: how often it did what. `faults`: what was wrong with
    what came."""

    told: list[Told]
    came: dict[str, list[Came]]
    did: dict[str, Counter]
    faults: Counter = field(default_factory=Counter)

    @property
    def figures(self):
        return {
            name: f"{sum(one.alerts for one in self.told if one.channel == name):,} alerts in"
            f" {len(set(self.came[name])):,} messages, taken {len(self.came[name]):,} times;"
            f" {', '.join(f'{what} {count}' for what, count in sorted(self.did[name].items()))}"
            for name in CHANNELS
        }

    def differs(self):
        for name in CHANNELS:
            yield from (f"{name}: {line}" for line in self.differs_of(name))
            if name != WELL and not self.did[name][name]:
                yield f"{name}: it never failed"
        yield from (f"{count} times {what}" for what, count in self.faults.items())

    def differs_of(self, name):
        rows_of_it = [one for one in self.told if one.channel == name]
        if not rows_of_it:
            yield "it was told nothing"
        if waiting := [one for one in rows_of_it if one.together is None]:
            yield f"{len(waiting)} messages were never sent once it was well"
        sent = {}
        for one in rows_of_it:
            if one.together is not None:
                sent.setdefault(one.together, []).append(one)
        for rows in sent.values():
            yield from self.differs_of_message(name, rows)

    def differs_of_message(self, name, rows):
        """Of rows that were settled as one: the service took a message about these."""
        numbers = {one.number for one in rows}
        alerts = sum(one.alerts for one in rows)
        about = [one for one in self.came[name] if one.rows and one.rows <= numbers]
        whole = [one for one in about if one.alerts == alerts]
        if not whole:
            yield f"{alerts} alerts count as sent and never came, as of {min(numbers)}"
            return
        shown = {one.rule for one in rows if one.number in whole[0].rows}
        for rule in {one.rule for one in rows} - shown:
            yield f"no alert of the rule {rule} is in a message that has some, of {min(numbers)}"
