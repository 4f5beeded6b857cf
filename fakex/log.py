"""The log of requests and replies, kept small: ids, instant and world; counts only on demand.

A world never changes, so an entry's answers are recomputed when they are read.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

from fakex.account.billing import Bill, Short, day_name
from fakex.account.windows import Scope
from fakex.world.seeded import FaultAnswer, World
from fakex.world.traits import Counts

_MOST_ENTRIES = 50_000  # some 120 MB of ids


@dataclass(slots=True)
class Entry:
    at_ms: int
    done_ms: int
    endpoint: str
    token: str
    status: int
    fault: str | None
    ids: str
    world: World
    answered: bool  # False when the reply's body said nothing about any id
    faulted: Mapping[str, FaultAnswer]
    remaining: int | None
    project: str = "-"
    bill: Bill | None = None
    refused_for: Scope | Short | None = None
    query: str = ""  # path and query of a request without ids
    shown: Sequence[int] = ()  # the posts in its reply
    fields: frozenset[str] = frozenset()  # which fields of each post were asked for
    seq: int = 0

    def to_dict(self) -> dict[str, Any]:
        ids = self.ids.split(",") if self.ids else []
        return {
            "seq": self.seq,
            "at_ms": self.at_ms,
            "done_ms": self.done_ms,
            "endpoint": self.endpoint,
            "token": self.token,
            "status": self.status,
            "fault": self.fault,
            "ids": ids,
            "query": self.query,
            "shown": list(map(str, self.shown)),
            "fields": sorted(self.fields),
            "answers": self._answers(ids) if self.answered else {},
            "remaining": self.remaining,
            "refused_for": self.refused_for,
            "project": self.project,
            "billed_posts": self.bill.posts if self.bill else 0,
            "billed_users": self.bill.users if self.bill else 0,
            "billed_micro": self.bill.micro if self.bill else 0,
            "billed_day": day_name(self.bill.day) if self.bill else None,
        }

    def _answers(self, ids: Sequence[str]) -> dict[str, Any]:
        answers: dict[str, Any] = {text: answer_json(self.world, text, self.at_ms) for text in ids}
        for text, fault in self.faulted.items():
            if fault in ("omitted", "not_found"):
                answers[text] = fault
            elif isinstance(counts := answers[text], dict):
                answers[text] = {**counts, "likes": None} if fault == "null_count" else "broken"
        return answers


def answer_json(world: World, text: str, at_ms: int) -> dict[str, int] | str:
    """The world's answer about one id at a real instant: its counts, or why there are none."""
    tweet = world.traits(int(text))
    if tweet is None:
        return "not_found"
    answer = world.answer(tweet, world.moment(at_ms))
    return answer if isinstance(answer, str) else Counts._make(answer)._asdict()


@dataclass(slots=True)
class Totals:
    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    lookups: int = 0  # requests that named ids
    ids_asked: int = 0
    tweets_answered: int = 0
    over_window: Counter[Scope] = field(default_factory=Counter)
    over_100: int = 0
    max_ids: int = 0

    def note_ids(self, ids: int, *, over: bool) -> None:
        self.lookups += 1
        self.ids_asked += ids
        self.over_100 += over
        self.max_ids = max(self.max_ids, ids)

    def to_dict(self) -> dict[str, Any]:
        requests: dict[str, dict[str, int]] = {}
        for (endpoint, status), times in sorted(self.requests.items()):
            requests.setdefault(endpoint, {})[str(status)] = times
        return {
            "requests": requests,
            "requests_total": self.requests.total(),
            "ids_asked": self.ids_asked,
            "tweets_answered": self.tweets_answered,
            "over_window": self.over_window.total(),
            "over_window_by": dict(sorted(self.over_window.items())),
            "over_100": self.over_100,
            "max_ids_a_request": self.max_ids,
            "mean_ids_a_request": self.ids_asked / self.lookups if self.lookups else 0.0,
        }


class Log:
    """The newest `MOST_ENTRIES` entries, with `detail` "full"; totals in any case."""

    def __init__(self) -> None:
        self.detail: Literal["full", "counts"] = "full"
        self.totals = Totals()
        self._entries: deque[Entry] = deque(maxlen=_MOST_ENTRIES)
        self._next = 1

    def clear(self) -> None:
        """Forget entries and totals; numbers continue, so a reader's `since` stays valid."""
        self._entries.clear()
        self.totals = Totals()

    def add(self, entry: Entry) -> None:
        """Number and keep an entry whose reply is about to be sent."""
        entry.seq, self._next = self._next, self._next + 1
        if self.detail == "full":
            self._entries.append(entry)

    def find(self, since: int, limit: int) -> list[Entry]:
        """The oldest entries numbered above `since`, at most `limit` of them."""
        return list(islice((entry for entry in self._entries if entry.seq > since), limit))

    @property
    def first(self) -> int | None:
        """The number of the oldest entry kept; a reader behind it has missed some."""
        return self._entries[0].seq if self._entries else None

    @property
    def last(self) -> int:
        """The last number given out, whether its entry was kept or not."""
        return self._next - 1
