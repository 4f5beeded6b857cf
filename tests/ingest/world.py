"""X in a few lines, for deciders: posts that appear out of the order of their ids, and its pages.

A page is read at one moment; tokens go on below the last id that was shown. X's Date is cut to
seconds, and a request lasts a while.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from trackers.ingest.polls.begin import begin_gap, begin_overlap, begin_poll, passed_id_of
from trackers.ingest.polls.pages import Done, More, Short, ask_for, follow
from trackers.ingest.polls.sweep import ReadingRules
from trackers.tweets.snowflake import first_id_at
from trackers.xapi.page import Page

START_MS = 1787731200123


@dataclass(frozen=True)
class Posted:
    id: int
    visible_ms: int


def posted(*when):
    """Posts from pairs of (ms after the start, ms until it appears)."""
    return [
        Posted(first_id_at(START_MS + after) + n, START_MS + after + late)
        for n, (after, late) in enumerate(when)
    ]


class World:
    """Shows the posts that are visible at `now_ms`, as each kind of endpoint does."""

    def __init__(self, posts, *, took_ms=0, tells_time=True, reach=None):
        self.posts = sorted(posts, key=lambda one: -one.id)
        self.now_ms, self.took_ms, self.tells_time = START_MS, took_ms, tells_time
        self.reach, self.requests, self.shown = reach, 0, 0

    def read(self, ask):
        self.requests += 1
        self.now_ms += self.took_ms // 2
        visible = [one.id for one in self.posts if one.visible_ms <= self.now_ms][: self.reach]
        date = datetime.fromtimestamp(self.now_ms // 1000, UTC)
        self.now_ms += self.took_ms - self.took_ms // 2
        below = min(ask.until_id or 2**63, int(ask.token or 2**63))
        ids = [id for id in visible if (ask.since_id or 0) < id < below]
        visible_ids = tuple(ids[: ask.max_results])
        self.shown += len(visible_ids)
        return Page(
            {}, dict.fromkeys(visible_ids, "bare"), visible_ids, 0, frozenset(), frozenset(), None,
            str(visible_ids[-1]) if len(ids) > len(visible_ids) else None,
            date - timedelta(milliseconds=self.took_ms) if self.tells_time else None, None, None,
        )  # fmt: skip


class Reader:
    """A source as its rows keep it. `crashes`: for each request, whether it dies before its commit.

    Our own clock, `skew_ms` ahead of X's, is used for nothing but floors.
    """

    def __init__(self, world, rules, *, crashes=(), skew_ms=0, depth=timedelta(0)):
        self.world, self.rules, self.depth = world, rules, depth
        self.crashes, self.skew_ms = iter(crashes), skew_ms
        self.cursor, self.sweep, self.gaps = None, None, []
        self.stored, self.leaked = set(), set()

    def now_ms(self):
        return self.world.now_ms + self.skew_ms

    def poll(self):
        if self.sweep is None:
            begun = begin_poll(self.cursor, self.rules, depth=self.depth, now_ms=self.now_ms())
            self.sweep = begun.sweep
            self.gaps += [begun.lost] if begun.lost else []
        self.read_on()

    def read_on(self):
        """To the end of the sweep, of this poll's pages, or to a crash; whether to the end."""
        filling = self.sweep.purpose == "gap"
        while True:
            fields = self.world.read(ask_for(self.sweep, self.of(), self.rules))
            if next(self.crashes, False):
                return False
            step = follow(self.sweep, fields, cursor=self.cursor, rules=self.rules)
            self.keep(fields)
            if isinstance(step, More):
                self.sweep = step.sweep
                if not step.at_once:
                    return False
                continue
            assert isinstance(step, Done | Short)
            if filling:
                self.gaps.pop(0)
            if isinstance(step, Short):
                self.gaps.append(step.gap)
            self.cursor, self.sweep = step.cursor, None
            return True

    def keep(self, page):
        new = set(page.ids) - self.stored
        if self.sweep.purpose != "gap" and self.cursor is not None:
            passed = passed_id_of(self.cursor, self.rules)
            self.leaked |= {id for id in new if id <= passed and not self.is_in_a_gap(id)}
        self.stored |= new

    def is_in_a_gap(self, id):
        return any((gap.from_id or 0) < id < gap.to_id for gap in self.gaps)

    def fill_gaps(self):
        """All that can be filled."""
        while self.sweep is not None:
            self.read_on()
        while any(not gap.is_lost for gap in self.gaps):
            gap = self.gaps[0]
            if gap.is_lost:
                self.gaps.append(self.gaps.pop(0))
                continue
            begun = begin_gap(gap, self.rules, passed=0, now_ms=self.now_ms())
            if begun.sweep is None:
                self.gaps[0] = begun.lost
                continue
            self.gaps += [begun.lost] if begun.lost else []
            self.sweep = replace(begun.sweep)
            while not self.read_on():
                pass

    def overlap(self, depth):
        self.sweep = replace(
            begin_overlap(self.rules, depth=depth, now_ms=self.now_ms()).sweep, pages_left=10_000
        )
        while not self.read_on():
            pass

    def of(self):
        return "cats" if self.rules.kind == "search" else 7


class NaiveReader(Reader):
    """What everybody does: since_id is the newest id that was seen."""

    def poll(self):
        self.sweep = begin_poll(
            self.cursor, replace(self.rules, k_ms=0), depth=self.depth, now_ms=self.now_ms()
        ).sweep
        newest = max(self.stored, default=None)
        self.sweep = replace(self.sweep, since_id=newest or self.sweep.since_id)
        self.read_on()


KINDS = {
    "account": ReadingRules("account", k_ms=5_000, page_size=5, pages=2),
    "mentions": ReadingRules("mentions", k_ms=5_000, page_size=5, pages=3),
    "search": ReadingRules("search", k_ms=60_000, lag_ms=20_000, page_size=10, pages=2),
    "list": ReadingRules("list", k_ms=5_000, page_size=3, pages=2),
}
