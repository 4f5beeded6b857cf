"""Whatever is done in whatever order, the store is as the oracle in memory says."""

from collections import defaultdict
from itertools import count, permutations

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.timelines.oracle import Oracle
from trackers.timelines import store
from trackers.timelines.models import Timeline, TimelineEntry
from trackers.timelines.store import Ask, Entry, SegmentState, TimelineMissing

pytestmark = pytest.mark.django_db

LOWER, UPPER = 5, 8
EXAMPLES = count(1)
NAMES = st.sampled_from("abc")
IDS = st.integers(1, 14)
# The bytes tell of the id and no more: of two appends with other bytes the first would win.
ENTRIES = st.builds(
    lambda id, secondary: Entry(id, secondary, b"" if id % 3 else bytes([id])),
    IDS,
    st.none() | IDS,
)
SOME_NAMES = st.lists(NAMES, max_size=4)
SOME = st.lists(ENTRIES, max_size=12)


class Both(RuleBasedStateMachine):
    """The store and the oracle; each run has names of its own."""

    def __init__(self):
        super().__init__()
        self.prefix = f"{next(EXAMPLES)}:"
        self.oracle = Oracle(lower=LOWER, upper=UPPER)

    def named(self, name):
        return self.prefix + name

    def both(self, act, *given):
        expected = getattr(self.oracle, act)(*given)
        assert getattr(store, act)(*given) == expected

    @rule(entry=ENTRIES, names=SOME_NAMES)
    def append(self, entry, names):
        self.both("append", entry, [*map(self.named, names)])

    @rule(pairs=st.lists(st.tuples(NAMES, ENTRIES), max_size=15))
    def append_many(self, pairs):
        self.both("append_many", [(self.named(name), entry) for name, entry in pairs])

    @rule(id=IDS, names=SOME_NAMES)
    def delete(self, id, names):
        self.both("delete", id, [*map(self.named, names)])

    @rule(name=NAMES, entries=SOME)
    def set(self, name, entries):
        self.both("set", self.named(name), entries)

    @rule(name=NAMES, entries=SOME, act=st.sampled_from(["merge", "unmerge"]))
    def merge(self, name, entries, act):
        self.both(act, self.named(name), entries)

    @rule(name=NAMES, source=NAMES, act=st.sampled_from(["merge_from", "unmerge_from"]))
    def merge_from(self, name, source, act):
        self.both(act, self.named(name), self.named(source))

    @rule(name=NAMES)
    def drop(self, name):
        self.both("drop", self.named(name))

    @rule(name=NAMES, offset=st.integers(0, 9), length=st.integers(0, 9), dedupe=st.booleans())
    def get(self, name, offset, length, dedupe):
        self.asked("get", name, offset, length, dedupe=dedupe)

    @rule(name=NAMES, id=IDS, dedupe=st.booleans())
    def get_since(self, name, id, dedupe):
        self.asked("get_since", name, id, dedupe=dedupe)

    @rule(name=NAMES, ids=st.lists(IDS), most=st.integers(-1, 9))
    def filter(self, name, ids, most):
        self.asked("filter", name, ids, most)

    def asked(self, act, name, *args, **how):
        try:
            expected = getattr(self.oracle, act)(self.named(name), *args, **how)
        except TimelineMissing:
            with pytest.raises(TimelineMissing):
                getattr(store, act)(self.named(name), *args, **how)
        else:
            assert getattr(store, act)(self.named(name), *args, **how) == expected

    @invariant()
    def they_agree(self):
        names = [*map(self.named, "abc")]
        asks = [Ask(name, length=None) for name in names]
        for name, segment in zip(names, store.get_multi(asks), strict=True):
            assert (segment.state is SegmentState.HIT) == (name in self.oracle.live)
            if segment.state is SegmentState.HIT:
                assert segment.entries == self.oracle.newest_first(name)

    def teardown(self):
        for timeline in Timeline.objects.filter(name__startswith=self.prefix):
            rows = TimelineEntry.objects.filter(timeline=timeline)
            dead = rows.filter(dead_at__isnull=False)
            assert {row.entry_id for row in dead} == self.oracle.dead[timeline.name]
            assert not dead.exclude(metadata=None, secondary=None).exists()
            assert timeline.size == len(rows) - len(dead)
            assert all(row.seq <= timeline.seq for row in rows)


def test_random_operations_in_random_order_match_the_oracle(settings):
    settings.TIMELINE_BOUNDS = [("", LOWER, UPPER)]

    run_state_machine_as_test(
        Both, settings=hypothesis_settings(max_examples=30, stateful_step_count=20, deadline=None)
    )


def entries(*ids):
    return [Entry(id, None, bytes([id])) for id in ids]


# Six of them, with repeats: of 5 it is appended, merged and deleted, of 9 it is deleted and merged.
SIX = (
    ("append", 5),
    ("append", 5),
    ("append", 7),
    ("delete", 5),
    ("merge", (5, 6, 9)),
    ("delete", 9),
)


def test_all_orders_of_six_operations_end_in_one_state():
    """Each order in a timeline of its own, one step of all of them after the other."""
    orders = {f"order {n}": order for n, order in enumerate(permutations(SIX))}
    assert len(orders) == 720
    for name in orders:
        Timeline.objects.create(name=name, live=True)

    for step in range(len(SIX)):
        names_by_act = defaultdict(list)
        for name, order in orders.items():
            names_by_act[order[step]].append(name)
        for (act, values), names in names_by_act.items():
            if act == "append":
                store.append(entries(values), names)
            elif act == "delete":
                store.delete(values, names)
            else:
                store.append_many([(name, one) for name in names for one in entries(*values)])

    told = store.get_multi([Ask(name) for name in orders])
    assert {tuple(one.entries) for one in told} == {tuple(entries(7, 6))}
    assert set(Timeline.objects.values_list("size", flat=True)) == {2}
    dead = TimelineEntry.objects.filter(dead_at__isnull=False).values_list("timeline", "entry_id")
    assert len(dead) == 2 * 720
    assert {id for _, id in dead} == {5, 9}
