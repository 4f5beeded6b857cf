"""Many writers and readers at once: no deadlock, nothing lost, nothing half seen."""

import random
import threading
from collections import Counter
from datetime import timedelta

import pytest

from tests.timelines.states import entries
from tests.together import together
from trackers.timelines import store
from trackers.timelines.models import Timeline, TimelineEntry
from trackers.timelines.store import Ask, Entry, SegmentState, TimelineMissing

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("timelines_alone")]

WRITERS, TURNS = 8, 40


def test_eight_writers_of_the_same_timelines_lose_nothing_and_never_deadlock():
    homes = [f"home:{n}" for n in range(12)]
    for name in homes:
        store.set(name, [])
    # Each writer has ids of its own: thousands. Those that end in 7 are deleted, by another one.
    appended = {writer: [] for writer in range(WRITERS)}

    def write(writer):
        chance = random.Random(writer)

        def act():
            for turn in range(TURNS):
                id = 1000 * (writer + 1) + turn
                some = chance.sample(homes, 8)
                other = 1000 * ((writer + 1) % WRITERS + 1) + turn
                if turn % 10 == 7:
                    store.delete(other, homes)
                    store.delete([other, id], [f"never set:{chance.randrange(4)}"])
                elif turn % 10 == 5:
                    store.append_many([(name, Entry(id)) for name in reversed(homes)])
                    store.append_many([(name, Entry(id)) for name in some])
                elif turn % 10 == 3:
                    store.unmerge(some[0], entries(1))
                    store.merge(some[0], entries(1, 2, 3))
                    store.expire(timedelta(days=1))
                    store.set(f"own:{writer}", entries(id))
                    store.merge_from(f"own:{writer}", some[1])
                store.append(Entry(id), homes)
                store.append(Entry(id), some)
                appended[writer].append(id)
                assert store.get_multi([Ask(name) for name in some])[0].state is SegmentState.HIT

        return act

    assert together(*(write(writer) for writer in range(WRITERS))) == []

    wanted = {id for ids in appended.values() for id in ids if id % 10 != 7}
    assert len(wanted) == WRITERS * TURNS * 9 // 10
    for name in homes:
        assert {one.id for one in store.get(name, 0, 1000)} - {1, 2, 3} == wanted
    for timeline in Timeline.objects.all():
        rows = TimelineEntry.objects.filter(timeline=timeline)
        assert timeline.size == rows.filter(dead_at=None).count()
        # One write of one entry after the other: no two of them have one place.
        if timeline.name in homes:
            live = rows.filter(entry_id__gt=100, dead_at=None).values_list("seq", flat=True)
            assert set(Counter(live).values()) == {1}


def test_concurrent_appends_past_the_bound_keep_the_newest(settings):
    settings.TIMELINE_BOUNDS = [("", 20, 25)]
    homes = ["home:1", "home:2", "home:3"]
    for name in homes:
        store.set(name, [])

    def write(writer):
        def act():
            for turn in range(60):
                store.append(Entry(4 * turn + writer), homes[:: 1 if turn % 2 else -1])

        return act

    assert together(*(write(writer) for writer in range(4))) == []

    for name in homes:
        found = [one.id for one in store.get(name, 0, 100)]
        assert found[:20] == [*range(239, 219, -1)]
        assert len(found) == Timeline.objects.get(name=name).size <= 25


def test_a_reader_sees_one_of_two_sets_and_never_a_mixture():
    some = [Entry(id, None, b"first") for id in range(1, 60)]
    others = [Entry(id, None, b"second") for id in range(30, 100)]
    wholes = {tuple(some), tuple(others)}
    store.set("home", some)
    over = threading.Event()
    seen = Counter()

    def write():
        try:
            for turn in range(120):
                store.set("home", (others, some)[turn % 2])
        finally:
            over.set()

    def read():
        while not over.is_set():
            for page in (
                store.get("home", 0, 1000),
                store.get("home", 0, 1000, dedupe=True),
                store.get_since("home", 0),
                store.get_since("home", 0, dedupe=True),
                store.filter("home", range(100)),
                store.get_multi([Ask("home", length=None)])[0].entries,
            ):
                seen[tuple(reversed(page))] += 1

    assert together(write, read, read) == []
    assert set(seen) == wholes


def test_a_reader_of_a_repeatedly_dropped_timeline_sees_all_or_a_miss():
    whole = entries(*range(50))
    over = threading.Event()
    seen = Counter()

    def write():
        try:
            for _ in range(60):
                store.set("home", whole)
                store.drop("home")
        finally:
            over.set()

    def read():
        while not over.is_set():
            try:
                seen[len(store.get("home", 0, 1000))] += 1
            except TimelineMissing:
                seen["missing"] += 1

    assert together(write, read) == []
    assert set(seen) <= {50, "missing"}
    assert not Timeline.objects.filter(live=True).exists()
