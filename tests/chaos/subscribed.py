"""What must hold of subscribers at the end: what was told, what came, and the product's books."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

# How each treats what comes (see `receiving_process`). "leaves" answers 410 from the middle on.
WELL = ("healthy", "newest")
FAILING = ("fails", "hangs", "drips", "resets", "waits")
LEAVES = "leaves"
# Refuses every batch with one tweet; a person sends these again at the end.
PICKY = "picky"
NAMES = (*WELL, *FAILING, PICKY, LEAVES)
# Gets the newest of what waits, one batch after the other.
NEWEST = "newest"
DELIVERERS = 2


@dataclass(frozen=True, slots=True)
class Ledger:
    """Of one subscriber, in events, as the product counts them; `queued` by its batches.

    `is_counted`: its counters of batches and bytes are what these come to.
    """

    added: int
    delivered: int
    dropped: int
    queued: int
    is_counted: bool = True


@dataclass(frozen=True, slots=True)
class Heard:
    """By a receiver. `accepted`: what it answered with a 2xx, by webhook-id, and how many events
    that were. `did`: how often it was how. `faults`: what was wrong with what came."""

    accepted: dict[str, int]
    events: frozenset[str]
    did: Counter
    faults: Counter


@dataclass(frozen=True)
class Subscribed:
    """`told`: every event that was stored for them. `must`: those of which the tweets' histories
    say so. `settled`: by subscriber, webhook-id and events of each attempt that counts as
    delivered. `exits`: of processes that nobody had killed, other than 0 by SIGTERM; `stops`: when
    they were told to end at last. `starved`: events that the picky one might have had, and that no
    delivery was tried of when all else was calm."""

    ledgers: dict[str, Ledger]
    heard: dict[str, Heard]
    told: list[str]
    must: frozenset[str]
    settled: dict[str, list[tuple[str, int]]]
    outcomes: Counter = field(default_factory=Counter)
    exits: tuple[int, ...] = ()
    stops: tuple[int | None, ...] = (0,) * DELIVERERS
    starved: int = 0

    @property
    def figures(self):
        return {
            "told": len(self.told),
            "must have been told": len(self.must),
            "attempts": dict(sorted(self.outcomes.items())),
            "failed on purpose": {
                name: sum(self.heard[name].did.values()) - self.heard[name].did["good"]
                for name in (*FAILING, PICKY, LEAVES)
            },
            **{
                name: f"{one.added:,} = {one.delivered:,} delivered + {one.queued:,} queued"
                f" + {one.dropped:,} dropped; {len(self.heard[name].events):,} received"
                for name, one in self.ledgers.items()
            },
        }

    def differs(self):
        told = set(self.told)
        for name in NAMES:
            yield from (f"{name}: {line}" for line in self.differs_of(name, told))
        if unheard := self.must - told:
            yield (
                f"{len(unheard)} changes in the tweets' histories were never told,"
                f" as {min(unheard)}"
            )
        if not self.must:
            yield "the tweets' histories have no change"
        if self.starved:
            yield f"{PICKY}: {self.starved} events waited behind those that it refuses"
        if self.exits:
            yield f"deliverers ended with {list(self.exits)} unasked"
        if any(one != 0 for one in self.stops):
            yield f"deliverers ended with {list(self.stops)} when told"

    def differs_of(self, name, published):
        ledger, heard, settled = self.ledgers[name], self.heard[name], self.settled.get(name, [])
        if ledger.added != ledger.delivered + ledger.dropped + ledger.queued:
            yield f"added is not delivered + dropped + queued: {ledger}"
        if not ledger.is_counted:
            yield "its counters are not what its batches come to"
        if ledger.delivered != sum(size for _, size in settled):
            yield f"delivered is not the sum of its attempts, {sum(size for _, size in settled)}"
        if twice := [uid for uid, count in Counter(uid for uid, _ in settled).items() if count > 1]:
            yield f"{len(twice)} batches were delivered twice, as {min(twice)}"
        if claimed := [uid for uid, size in settled if heard.accepted.get(uid) != size]:
            yield f"{len(claimed)} batches count as delivered and were not, as {min(claimed)}"
        yield from (f"{count} times {what}" for what, count in heard.faults.items())
        if strange := heard.events - published:
            yield f"{len(strange)} events that nobody told, as {min(strange)}"
        if name == LEAVES:
            if not ledger.dropped:
                yield "nothing was dropped of what waited for it"
        else:
            if ledger.queued or ledger.dropped:
                yield "not all of it was delivered once it was well"
            if lost := self.due_to(name, published) - heard.events:
                yield f"{len(lost)} events never came, as {min(lost)}"
        if name != NEWEST and ledger.added != len(self.told):
            yield f"{ledger.added:,} were added of {len(self.told):,} that were told"
        if name not in WELL and not heard.did[name if name != LEAVES else "gone"]:
            yield "it never failed"

    def due_to(self, name, published):
        """What one has to have received when all is calm."""
        if name != NEWEST:
            return published
        last = {}
        for _, tweet, t in (one.split() for one in published if one.startswith("tweets ")):
            last[tweet] = max(last.get(tweet, 0), int(t))
        milestones = {one for one in published if one.startswith("milestones ")}
        return milestones | {f"tweets {tweet} {t}" for tweet, t in last.items()}
