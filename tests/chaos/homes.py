"""Homes beside the look-ups: followers follow imported files and accounts, and the workers deliver.

files, some of their tweets new ─> import:part ─┐
their authors, once a look-up tells them ───────┴─> timeline:deliver ─> each home, by each strategy

What a home must be is told apart from the product: by what was brought, who wrote it, and who
follows whom at the end.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from tests.chaos.ground import wait_until
from tests.chaos.schedule import rounds
from tests.conftest import PROJECT

WATCHERS = 20
# Those of them who look at their homes, which a switch therefore has laid out anew. All others keep
# what was laid out at the beginning.
LOOK = 4
# What each page comes from, by the strategy.
SERVED = {"read": "read", "timed": "buckets", "sized": "buckets", "cache": "cache"}

# Files in a round of faults, tweets in a file, and how many of them are tracked for the first time.
FILES, LINES, NEW = 24, 40, 10
# So many follow a file, and so many accounts are followed by each.
FOLLOWERS, ACCOUNTS = 5, 3
# By number in the fake's world: the first write thousands of tweets, the last hardly any.
FOLLOWED = slice(30, 42)
SWITCH_EVERY = 6
# The rest of the time is for what these leave to be done.
BUSY = 0.8

WAITING = """
    SELECT (SELECT count(*) FROM trackers_importpart)
         + (SELECT count(*) FROM trackers_timelinedelivery)
         + (SELECT count(*) FROM trackers_homerebuild)
         + (SELECT count(*) FROM trackers_origin o
            LEFT JOIN trackers_deliverymark m ON m.origin_id = o.id
            WHERE o.clock > coalesce(m.number, 0))
"""
SHOWN = """
    SELECT -author_id, array_agg(id) FROM trackers_tweet
    WHERE gone_at IS NULL AND author_id = ANY(%s) GROUP BY author_id
"""
GONE = "SELECT id FROM trackers_tweet WHERE gone_at IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Walk:
    """A home by one strategy, from top to end and from its end to the top. `served`: where each
    page above its floor came from. `laid_out`: when, in epoch seconds; 0: not at all."""

    follower: int
    strategy: str
    down: list[int]
    up: list[int]
    served: list[str]
    laid_out: float


@dataclass(frozen=True)
class Homes:
    """`follows`: origins by follower, at the end. `shown`: by origin, the tweets that are neither
    gone nor untracked. `look`: followers whose homes a switch lays out anew, by `strategy` alone.
    `waiting`: what was not delivered when all was calm. `repeated`: by what interrupted an act."""

    follows: dict[int, frozenset[int]]
    shown: dict[int, frozenset[int]]
    look: frozenset[int]
    strategy: str
    begun_at: float
    walks: list[Walk]
    waiting: int
    repeated: Counter = field(default_factory=Counter)

    @cached_property
    def expected(self):
        """Each follower's home, newest first."""
        return {
            follower: sorted(
                set().union(*(self.shown.get(one, ()) for one in origins)), reverse=True
            )
            for follower, origins in self.follows.items()
        }

    @property
    def figures(self):
        sizes = sorted(map(len, self.expected.values()))
        return {
            "followers": len(self.follows),
            "tweets in a home": f"{sizes[0]:,} to {sizes[-1]:,}" if sizes else "none",
            "walks": len(self.walks),
            "pages from what was laid out": sum(
                served != "read" for walk in self.walks for served in walk.served
            ),
            "acts repeated": dict(self.repeated.most_common()),
        }

    def differs(self):
        results = [line for walk in self.walks for line in self.differs_in(walk)]
        walked = {(walk.follower, walk.strategy) for walk in self.walks}
        for follower in self.follows:
            wanted = ("read", self.strategy) if follower in self.look else SERVED
            results += [
                f"nobody walked through home {follower} by {strategy}"
                for strategy in wanted
                if (follower, strategy) not in walked
            ]
        if not any(self.expected.values()):
            results.append("nothing is in any home")
        if self.waiting:
            results.append(
                f"{self.waiting} imports, deliveries or rebuilds were waiting at the end"
            )
        return results

    def differs_in(self, walk):
        expected, where = self.expected[walk.follower], f"home {walk.follower} by {walk.strategy}"
        lost, strange = set(expected) - set(walk.down), set(walk.down) - set(expected)
        if lost or strange:
            first = min(lost or strange)
            yield f"{where}: {len(lost)} lost, {len(strange)} strange, as tweet {first}"
        elif walk.down != expected:
            yield f"{where}: some are there twice, or in another order"
        if walk.up != walk.down:
            yield f"{where}: another one from its end to its top"
        if set(walk.served) != {SERVED[walk.strategy]}:
            yield f"{where}: pages came from {', '.join(sorted(set(walk.served))) or 'nowhere'}"
        keeps = walk.strategy != "read" and walk.follower not in self.look
        if keeps and not 0 < walk.laid_out <= self.begun_at:
            yield f"{where}: what was laid out at the beginning was not kept"


class Following:
    """Has files imported, follows, unfollows and switches strategies, by a process of its own on
    the same database, past all relays."""

    def __init__(self, ground, seed, *, seconds):
        self.ground, self.chance, self.seconds = ground, random.Random(f"homes {seed}"), seconds
        self.files = FILES * rounds(seconds)
        self.process, self.begun_at = None, 0.0
        self.follows, self.brought, self.look, self.strategy = {}, {}, frozenset(), "read"

    @staticmethod
    def new_tweets(seconds):
        """How many tweets are tracked only when a file brings them."""
        return FILES * rounds(seconds) * NEW

    def prepare(self):
        """Begins to lay the ground, which `wait_until_ready` ends: others do theirs meanwhile."""
        ids = self.ground.x.ids(self.ground.pace.tweets + self.files * NEW)
        known, new = ids[: self.ground.pace.tweets], ids[self.ground.pace.tweets :]
        self.ground.ids |= frozenset(new)
        lines = [
            new[number * NEW : (number + 1) * NEW] + self.chance.sample(known, LINES - NEW)
            for number in range(self.files)
        ]
        authors = [one["id"] for one in self.ground.x.get("authors")["authors"]][FOLLOWED]
        self.start()
        self.write(
            do="begin",
            files=lines,
            followed_by=[self.chance.sample(range(WATCHERS), FOLLOWERS) for _ in lines],
            accounts=[self.chance.sample(authors, ACCOUNTS) for _ in range(WATCHERS)],
            look=LOOK,
        )

    def start(self):
        environment = self.ground.environment | self.ground.reached("tweetwatch")
        with (self.ground.directory / "homes.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.chaos.homes_process"],
                cwd=PROJECT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def wait_until_ready(self):
        begun = self.read()
        self.begun_at, self.look = begun["at"], frozenset(begun["look"])
        self.follows = {int(one): set(origins) for one, origins in begun["follows"].items()}
        self.brought = {int(one): frozenset(ids) for one, ids in begun["brought"].items()}

    def write(self, **what):
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            log = (self.ground.directory / "homes.log").read_text(errors="replace")
            raise RuntimeError(f"who follows has ended: {log[-2000:]}")
        return json.loads(line)

    def ask(self, **what):
        self.write(**what)
        return self.read()

    def go_on(self, over):
        """All acts, spread over the time of the faults; for which it is late, at once."""
        begun = time.monotonic()
        for number, source in enumerate(self.brought):
            at = BUSY * self.seconds * (number + self.chance.random()) / len(self.brought)
            if over.wait(max(0.0, begun + at - time.monotonic())):
                return
            self.ask(do="import", source=source)
            self.follow_or_unfollow()
            if number % SWITCH_EVERY == SWITCH_EVERY - 1:
                others = [key for key in SERVED if key not in (self.strategy, "read")]
                self.strategy = self.chance.choice(others)
                self.ask(do="switch", strategy=self.strategy)

    def follow_or_unfollow(self):
        follower = self.chance.choice(sorted(self.follows))
        origin = self.chance.choice(sorted(set().union(self.brought, *self.follows.values())))
        mine = self.follows[follower]
        self.ask(do="unfollow" if origin in mine else "follow", follower=follower, origin=origin)
        mine ^= {origin}

    def wait_until_delivered(self, within):
        """Those that are left after that time are told by the book."""
        try:
            wait_until(lambda: not self.waiting(), within=within, what="all is delivered")
        except TimeoutError:
            return

    def waiting(self):
        return self.ground.postgres.value(WAITING)

    def walk(self):
        """Through all homes, when everybody else has stopped."""
        waiting, report = self.waiting(), self.ask(do="walk", strategy=self.strategy)
        gone = {id for (id,) in self.ground.postgres.rows(GONE)}
        authors = [-one for one in set().union(*self.follows.values()) if one < 0]
        accounts = self.ground.postgres.rows(SHOWN, authors)
        return Homes(
            follows={follower: frozenset(origins) for follower, origins in self.follows.items()},
            shown={source: ids - gone for source, ids in self.brought.items()}
            | {account: frozenset(ids) for account, ids in accounts},
            look=self.look,
            strategy=self.strategy,
            begun_at=self.begun_at,
            walks=[Walk(**one) for one in report["walks"]],
            waiting=waiting,
            repeated=Counter(report["repeated"]),
        )

    def end(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait(10)
            self.process.stdin.close()
            self.process.stdout.close()
