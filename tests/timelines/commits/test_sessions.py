"""Two sessions driven by hand: whoever comes second waits, and what both did is there."""

import io
from datetime import timedelta

import pytest

from tests.timelines.sessions import PATIENCE, sessions, wait_until_it_waits
from tests.timelines.states import entries, read_ids
from trackers.timelines import store
from trackers.timelines.models import Timeline, TimelineEntry
from trackers.timelines.store import Entry

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("timelines_alone")]


@pytest.fixture
def two():
    with sessions(2) as opened:
        yield opened


def beside(two, first, second):
    """The second begins while the first is done and not committed."""
    one, other = two
    with one.in_transaction():
        one.do(*first)
        waiting = other.start(*second)
        wait_until_it_waits(other, waiting)
    return waiting.result(PATIENCE)


def all_is_counted():
    for timeline in Timeline.objects.all():
        rows = TimelineEntry.objects.filter(timeline=timeline)
        assert timeline.size == rows.filter(dead_at=None).count()
        assert all(row.seq <= timeline.seq for row in rows)


def test_an_entry_appended_while_a_cache_is_built_is_in_it(two):
    one, other = two
    one.do(store.set, "home", [])
    computed = entries(1, 2, 3)

    # Not in what was computed before, and committed before it is merged.
    other.do(store.append, Entry(4), ["home"])
    # Appended while it is merged.
    beside(two, (store.merge, "home", computed), (store.append, Entry(5), ["home"]))
    beside(two, (store.append, Entry(6), ["home"]), (store.merge, "home", computed))

    assert read_ids() == [6, 5, 4, 3, 2, 1]
    all_is_counted()


def test_an_append_waiting_for_a_set_is_in_the_new_timeline(two):
    store.set("home", entries(1))

    beside(two, (store.set, "home", entries(2)), (store.append, Entry(3), ["home"]))

    assert read_ids() == [3, 2]
    all_is_counted()


def test_a_set_waiting_for_an_append_replaces_it(two):
    store.set("home", entries(1))

    beside(two, (store.append, entries(2, 3), ["home"]), (store.set, "home", entries(3, 4)))

    assert read_ids() == [4, 3]
    all_is_counted()


def test_two_concurrent_sets_of_a_new_name_are_serialised(two):
    beside(two, (store.set, "home", entries(1, 2)), (store.set, "home", entries(2, 3)))

    assert read_ids() == [3, 2]
    all_is_counted()


def test_an_append_waiting_for_a_drop_does_nothing(two):
    store.set("home", entries(1))
    store.delete(9, ["home"])

    beside(two, (store.drop, "home"), (store.append, Entry(2), ["home"]))
    store.set("home", [])

    assert read_ids() == []
    all_is_counted()


def restored(dump):
    store.restore(io.BytesIO(dump))


DELETE = (store.delete, 5, ["home"])
BRINGS = {
    "append": lambda _dump: (store.append, Entry(5), ["home"]),
    "append_many": lambda _dump: (store.append_many, [("home", Entry(5)), ("home", Entry(6))]),
    "set": lambda _dump: (store.set, "home", entries(5, 6)),
    "merge": lambda _dump: (store.merge, "home", entries(5, 6)),
    "merge_from": lambda _dump: (store.merge_from, "home", "user"),
    "restore": lambda dump: (restored, dump),
    "unmerge": lambda _dump: (store.unmerge, "home", entries(5)),
    "drop": lambda _dump: (store.drop, "home"),
    "expire": lambda _dump: (store.expire, timedelta(0)),
}


@pytest.mark.parametrize("comes", ["first", "second"])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_deletion_wins_over_every_concurrent_operation(two, comes, is_there):
    for act in BRINGS.values():
        Timeline.objects.all().delete()
        TimelineEntry.objects.all().delete()
        store.set("user", entries(5, 6))
        store.set("home", entries(5, 7))
        out = io.BytesIO()
        store.snapshot(out)
        if not is_there:
            store.unmerge("home", entries(5))
        brings = act(out.getvalue())

        beside(two, *((DELETE, brings) if comes == "first" else (brings, DELETE)))

        store.set("home", entries(4, 5))
        assert read_ids() == [4], brings
        all_is_counted()


def test_two_deletes_on_an_unset_name_are_both_remembered(two):
    beside(two, (store.delete, 1, ["home"]), (store.delete, 2, ["home"]))

    store.set("home", entries(1, 2, 3))

    assert read_ids() == [3]


def test_a_deletion_is_remembered_while_the_name_is_being_pruned(two):
    store.delete(1, ["home"])
    forget = (lambda: store.expire(timedelta(0), tombstones=timedelta(0)),)

    beside(two, forget, (store.delete, 2, ["home"]))
    store.set("home", entries(1, 2))

    assert read_ids() == [1]


def test_since_follows_the_order_of_commits(two):
    store.set("home", [])

    beside(two, (store.append, Entry(9), ["home"]), (store.append, Entry(3), ["home"]))

    assert [entry.id for entry in store.get_since("home", 9)] == [3]


def test_a_read_neither_waits_for_nor_sees_an_uncommitted_write(two):
    first, other = two
    store.set("home", entries(1))

    with first.in_transaction():
        first.do(store.set, "home", entries(2))
        assert [entry.id for entry in other.do(store.get, "home", 0, 9)] == [1]

    assert read_ids() == [2]


def test_names_are_locked_in_one_order(two):
    names = [f"home:{n}" for n in range(20)]
    for name in names:
        store.set(name, [])
    first, other = two
    with first.in_transaction():
        first.do(store.append, Entry(1), ["home:0"])
        # It stands before the first of all, and holds none of the others.
        waiting = other.start(store.append, Entry(2), [*reversed(names)])
        wait_until_it_waits(other, waiting)
        first.do(store.append, Entry(3), names[1:])
    waiting.result(PATIENCE)

    assert [read_ids(name) for name in names] == [[2, 1], *[[3, 2]] * 19]
