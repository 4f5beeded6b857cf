"""What the leak experiment reads: posts that appear out of the order of their ids, in turned time.

An account, a search and a list, each with posts of its own: most appear at once, some less than k
late, and some on purpose later than that.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import requests

from tests.benchmarks.leaks.naive import PAGES
from tests.flows.fake_time import ONE_S, FakeTime

TWEPOCH_MS, LOW_BITS = 1288834974657, 22
FAR = 10**15
TAG = "leaking"
LIST = 55
NAMES = "GET /2/users/by"
# Product and naive reader are measured beside each other, so no window is ever full.
NEVER_FULL = {"token": 1_000_000, "app": 1_000_000, "window": 900}


@dataclass(frozen=True, slots=True)
class Listing:
    """Posts of one kind of source. `rate` in posts a second of turned time.

    `k`: how late a post may appear and still be found by the next poll, from the moment on at which
    X shows the others of its age, which is `lag` after their birth. `late`, `very_late`: the bounds
    of what appears late, below and above it.
    """

    kind: str
    rate: float
    k: timedelta
    lag: timedelta
    late: tuple[int, int]
    very_late: tuple[int, int]

    @property
    def bound_ms(self) -> int:
        return (self.k + self.lag) // timedelta(milliseconds=1)


# A list shows its newest 800 posts and no more: at this rate an overlap still finds the latest.
TIMELINE = {
    "k": timedelta(seconds=5),
    "lag": timedelta(0),
    "late": (1_000, 4_999),
    "very_late": (5_001, 40_000),
}
LISTINGS = (
    Listing("account", 3.0, **TIMELINE),
    Listing(
        "search",
        1.9,
        k=timedelta(seconds=60),
        lag=timedelta(seconds=30),
        late=(31_000, 89_999),
        very_late=(90_001, 150_000),
    ),
    Listing("list", 2.4, **TIMELINE),
)
RATE = sum(listing.rate for listing in LISTINGS)
LATE_SHARE, VERY_LATE_SHARE = 0.1, 0.02


@dataclass(frozen=True, slots=True)
class Appeared:
    id: int
    late_ms: int


class World:
    """A fake X of the experiment's own; everything is told and read over HTTP."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = requests.Session()
        self.session.trust_env = False
        self._seen = 0

    def tell(self, method: str, path: str, json: Any = None) -> Any:
        reply = self.session.request(method, f"{self.url}/_fake/{path}", json=json, timeout=60)
        reply.raise_for_status()
        return reply.json()

    def put(self, path: str, json: Any) -> Any:
        return self.tell("PUT", path, json)

    def prepare(self) -> None:
        """Nobody hides or deletes anything, and nobody owes anything."""
        self.put("world", {"deleted": 0, "protected": 0, "suspended": 0, "search_newest_s": 30})
        self.put("limits", dict.fromkeys((*PAGES, NAMES), NEVER_FULL))
        self.put("log", {"detail": "full"})
        self.tell("DELETE", "projects")

    def people(self) -> list[tuple[str, str]]:
        """The id and the name of an author for each listing."""
        authors = self.tell("GET", "authors")["authors"]
        return [(one["id"], one["username"]) for one in authors if one["steady"]][: len(LISTINGS)]

    def release(self, posts: int) -> int:
        """Let so many posts appear from now on, in all listings at once; when they begin (ms)."""
        flows = []
        for listing, (author, _) in zip(LISTINGS, self.people(), strict=True):
            lag = {
                "late_share": LATE_SHARE,
                "late_ms": listing.late,
                "very_late_share": VERY_LATE_SHARE,
                "very_late_ms": listing.very_late,
            }
            flow = {
                "authors": [author],
                "rate": listing.rate,
                "count": max(1, round(posts * listing.rate / RATE)),
                "lag": lag,
                "retweets": 0,
                "tags": [TAG] if listing.kind == "search" else [],
                "tagged": 1 if listing.kind == "search" else 0,
                "starts_in_s": 1,
            }
            flows.append(self.tell("POST", "posts", flow))
        return min(int(flow["from_ms"]) for flow in flows)

    def truth(self, from_ms: int) -> Mapping[str, list[Appeared]]:
        """By listing: what was posted since then, and how long after its birth each appeared."""
        people = self.people()
        which = (f"author={people[0][0]}", f"query=%23{TAG}", f"list={LIST}")
        return {
            listing.kind: [
                Appeared(int(post["id"]), post["visible_at_ms"] - post["born_ms"])
                for post in self.tell("GET", f"visible?{one}&from_ms=0&until_ms={FAR}")["posts"]
                if post["born_ms"] >= from_ms
            ]
            for listing, one in zip(LISTINGS, which, strict=True)
        }

    def requests_since(self) -> list[dict[str, Any]]:
        """X's log of the requests since the last look at it."""
        told = self.tell("GET", f"log?since={self._seen}")
        self._seen = told["next"]
        return list(told["entries"])


class SkewedTime(FakeTime):
    """Time that is turned, with X's clock ahead of the database's by so much.

    Python's own clock is not turned: it must be within an hour of X's, which the product checks.
    """

    def __init__(self, x: World, *, start: datetime, skew: timedelta) -> None:
        self.skew = skew
        super().__init__(x, start=start)

    def show(self) -> None:
        super().show()
        self.x.put("clock", {"ahead_s": (self.ahead + self.skew) / ONE_S})


def first_id(at_ms: int) -> int:
    return (at_ms - TWEPOCH_MS) << LOW_BITS


def start_of(span: timedelta) -> datetime:
    """The run lies evenly around the present."""
    return datetime.fromtimestamp(time.time(), UTC) - span / 2
