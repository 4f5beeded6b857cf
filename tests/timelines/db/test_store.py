"""What the store promises, a sentence each."""

from datetime import timedelta

import psycopg
import pytest

from tests.timelines.states import entries, ids, read_ids
from trackers.timelines import store
from trackers.timelines.models import Timeline, TimelineEntry
from trackers.timelines.store import Ask, Bounds, Entry, SegmentState, TimelineMissing
from tweetwatch.database import cursor


def size(name="home"):
    return Timeline.objects.get(name=name).size


def test_a_missing_timeline_is_not_an_empty_one():
    store.set("empty", [])

    assert store.get("empty", 0, 10) == store.get_since("empty", 1) == []
    assert store.filter("empty", [1]) == []
    for ask in (
        lambda: store.get("missing", 0, 10),
        lambda: store.get_since("missing", 1),
        lambda: store.filter("missing", [1]),
    ):
        with pytest.raises(TimelineMissing, match="missing"):
            ask()


def test_appended_entries_are_read_newest_first_with_metadata():
    store.set("home", [])
    store.set("another", [])
    whole = Entry(7, 3, bytes(range(256)))

    store.append(whole, ["home", "another", "missing"])
    store.append(Entry(9), ["home"])
    store.append(Entry(8), ["home"])

    assert store.get("home", 0, 10) == [Entry(9), Entry(8), whole]
    assert store.get("home", 1, 1) == [Entry(8)]
    assert store.get("home", 3, 5) == []
    assert store.get("another", 0, 10) == [whole]
    with pytest.raises(TimelineMissing):
        store.get("missing", 0, 10)


def test_any_text_is_a_name():
    names = ['a"b', "a\\b", "{a,b}", "NULL", "ünï\n😀", "a" * 200, " ", "%s"]

    for name in names:
        store.set(name, [])
    store.append(Entry(1), names)

    assert [read_ids(name) for name in names] == [[1]] * len(names)


def test_the_first_metadata_of_an_id_are_kept_until_a_set():
    store.set("home", [Entry(1, None, b"first")])

    store.append(Entry(1, 5, b"second"), ["home"])
    store.merge("home", [Entry(1, None, b"third")])
    assert store.get("home", 0, 10) == [Entry(1, None, b"first")]

    store.set("home", [Entry(1, 5, b"fourth")])
    assert store.get("home", 0, 10) == [Entry(1, 5, b"fourth")]


def test_a_repeated_entry_is_stored_once():
    store.set("home", [Entry(1), Entry(1), Entry(2)])
    store.append(Entry(3), ["home", "home"])
    store.append_many([("home", Entry(4)), ("home", Entry(4)), ("home", Entry(3))])
    store.merge("home", entries(4, 5, 5))

    assert read_ids() == [5, 4, 3, 2, 1]
    assert size() == 5


def test_a_deletion_is_final_through_all_operations(tmp_path):
    store.set("home", entries(1, 2))
    store.delete(2, ["home", "never set"])
    dump = tmp_path / "dump"
    store.snapshot(dump)

    store.append(Entry(2), ["home"])
    store.merge("home", entries(2, 3))
    store.set("home", entries(1, 2, 3))
    assert read_ids() == [3, 1]

    store.drop("home")
    store.set("home", entries(1, 2, 3))
    assert read_ids() == [3, 1]

    assert store.expire(timedelta(0)) == 1
    store.set("home", entries(1, 2, 3))
    assert read_ids() == [3, 1]

    store.set("never set", entries(1, 2))
    assert read_ids("never set") == [1]

    store.delete(1, ["home"])
    store.restore(dump)
    assert read_ids() == []
    assert TimelineEntry.objects.filter(dead_at__isnull=False, entry_id=2).count() == 2


def test_several_ids_are_deleted_at_once():
    store.set("home", entries(1, 2, 3))

    store.delete([3, 1], ["home"])

    assert read_ids() == [2]


def test_a_late_entry_is_returned_by_since_and_sorted_into_its_place():
    store.set("home", entries(10, 20))
    store.append(Entry(30), ["home"])
    store.append(Entry(15), ["home"])

    assert ids(store.get_since("home", 30)) == [15]
    assert ids(store.get_since("home", 20)) == [30, 15]
    assert ids(store.get_since("home", 10)) == [30, 20, 15]
    assert ids(store.get_since("home", 15)) == []
    assert ids(store.get_since("home", 99)) == read_ids() == [30, 20, 15, 10]


def test_a_deleted_entry_is_a_valid_place_for_since():
    store.set("home", entries(10, 20))
    store.append(Entry(30), ["home"])

    store.delete(20, ["home"])

    assert ids(store.get_since("home", 20)) == [30]


def test_an_entry_deleted_before_a_set_is_an_earlier_place_for_since():
    store.delete(2, ["home"])
    store.set("home", entries(1, 2))

    assert ids(store.get_since("home", 2)) == [1]


def test_a_name_given_twice_counts_once(settings):
    settings.TIMELINE_BOUNDS = [("", 2, 3)]
    store.set("home", entries(7, 8, 9))

    store.append(Entry(6), ["home", "home"])

    assert read_ids() == [9, 8]


def test_unmerged_entries_return_with_a_merge():
    store.set("home", entries(1, 2, 3))
    store.delete(3, ["home"])

    store.unmerge("home", entries(2, 3, 4))
    assert read_ids() == [1]
    store.merge("home", entries(2, 3))
    assert read_ids() == [2, 1]
    assert size() == 2

    store.merge("missing", entries(1))
    store.unmerge("missing", entries(1))
    assert not Timeline.objects.filter(name="missing").exists()


def test_a_timeline_is_merged_and_unmerged_by_its_name():
    store.set("home", entries(1, 5))
    store.set("user", [Entry(2, 1, b"said"), Entry(5), Entry(6)])
    store.delete(6, ["home"])

    assert store.merge_from("home", "user") is True
    assert store.get("home", 0, 9) == [Entry(5), Entry(2, 1, b"said"), Entry(1)]
    assert store.unmerge_from("home", "user") is True
    assert read_ids() == [1]

    assert store.merge_from("home", "missing") is False
    assert store.unmerge_from("home", "missing") is False
    assert store.merge_from("missing", "user") is True
    assert read_ids() == [1]
    assert not Timeline.objects.filter(name="missing").exists()


def test_retweets_collapse_on_request_and_the_original_wins():
    store.set("home", [Entry(10), Entry(20, 10), Entry(30, 5), Entry(40, 5), Entry(50, 10)])

    assert ids(store.get("home", 0, 10, dedupe=True)) == [30, 10]
    assert ids(store.get("home", 1, 10, dedupe=True)) == [10]
    assert len(store.get("home", 0, 10)) == 5
    assert ids(store.get_since("home", 10)) == [50, 40, 30, 20]
    # A retweet of what is there already is not new.
    assert ids(store.get_since("home", 10, dedupe=True)) == [30]


def test_filter_finds_ids_and_their_retweets_among_the_newest():
    store.set("home", [Entry(10), Entry(20, 10), Entry(30), Entry(40, 7)])

    assert ids(store.filter("home", [10, 7, 99])) == [40, 20, 10]
    assert ids(store.filter("home", [10], 3)) == [20]
    assert store.filter("home", [10], 0) == []
    assert store.filter("home", []) == []


def test_many_timelines_are_read_at_once_as_hits_or_misses():
    store.set("home", entries(1, 2, 3))
    store.set("empty", [])

    answer = store.get_multi(
        [
            Ask("home", 0, 2),
            Ask("missing"),
            Ask("home", 2, 2),
            Ask("empty"),
            Ask("home", since=2),
            Ask("home", since=1, dedupe=True),
        ]
    )

    assert [(one.state, ids(one.entries), one.size) for one in answer] == [
        (SegmentState.HIT, [3, 2], 2),
        (SegmentState.MISS, [], 0),
        (SegmentState.HIT, [1], 1),
        (SegmentState.HIT, [], 0),
        (SegmentState.HIT, [3], 1),
        (SegmentState.HIT, [3, 2], 2),
    ]
    assert store.get_multi([]) == []


def test_a_timeline_over_its_upper_bound_is_cut_to_the_lower_one(settings):
    settings.TIMELINE_BOUNDS = [("user:", 3, 5), ("", 2, 3)]
    for name in ("user:1", "home"):
        store.set(name, [])

    for id in (1, 2, 3, 4, 5):
        store.append(Entry(id), ["user:1", "home"])
    assert (read_ids("user:1"), read_ids()) == ([5, 4, 3, 2, 1], [5, 4, 3])

    store.append(Entry(0), ["user:1"])
    assert read_ids("user:1") == [5, 4, 3]
    # The oldest goes, also when it came last.
    store.append(Entry(1), ["home"])
    assert read_ids() == [5, 4]
    store.merge("home", entries(6, 7))
    assert read_ids() == [7, 6]
    store.set("home", entries(1, 2, 3, 4))
    assert read_ids() == [4, 3]
    assert (size("user:1"), size()) == (3, 2)


def test_bounds_can_be_set_for_one_timeline(settings):
    store.set("home", entries(1, 2, 3), bounds=Bounds(1, 2))
    assert read_ids() == [3]

    store.append_many([("home", Entry(4)), ("home", Entry(5))], bounds=Bounds(2, 2))
    assert read_ids() == [5, 4]
    store.merge("home", entries(6), bounds=Bounds(1, 2))
    assert read_ids() == [6]


def test_tombstones_do_not_count_within_the_bounds(settings):
    settings.TIMELINE_BOUNDS = [("", 2, 3)]
    store.set("home", [])
    store.delete([5, 6, 7, 8], ["home"])

    store.merge("home", entries(1, 2, 3))

    assert read_ids() == [3, 2, 1]


def test_entries_of_one_append_are_inserted_timeline_by_timeline():
    """Entry by entry each would go to another page of the indexes than the one before it."""
    names = [f"t:{n}" for n in range(100)]
    for name in names:
        store.set(name, [])
    with cursor() as db:
        # Rows go to the end of a new table only: elsewhere they fill what others left free.
        db.execute("TRUNCATE trackers_timelineentry")

    store.append(entries(*range(1, 21)), names)

    with cursor() as db:
        rows = db.execute("SELECT timeline_id, entry_id FROM trackers_timelineentry ORDER BY ctid")
        told = rows.fetchall()
    assert len(told) == 2_000
    assert told == sorted(told)


@pytest.fixture
def statements(monkeypatch):
    """All that is asked of the database meanwhile."""
    asked, run = [], psycopg.Cursor.execute

    def execute(cursor, query, *given, **how):
        asked.append(query)
        return run(cursor, query, *given, **how)

    monkeypatch.setattr(psycopg.Cursor, "execute", execute)
    return asked


def test_the_number_of_statements_is_the_same_for_any_number_of_timelines(statements, settings):
    settings.TIMELINE_BOUNDS = [("", 3, 5)]
    collected = {}
    for many in (1, 100):
        names = [f"{many}:{n}" for n in range(many)]
        for name in names:
            store.set(name, entries(1))
        for what, act in {
            "append": lambda names=names: store.append(Entry(2), names),
            "append and cut": lambda names=names: store.append(entries(3, 4, 5, 6), names),
            "append_many": lambda names=names: store.append_many(
                [(name, Entry(7 + n % 2)) for n, name in enumerate(names)]
            ),
            "delete": lambda names=names: store.delete(
                [7, 8], [*names, *map("new {}".format, names)]
            ),
            "get_multi": lambda names=names: store.get_multi([*map(Ask, names)]),
            "expire": lambda: store.expire(timedelta(days=1)),
        }.items():
            statements.clear()
            act()
            collected.setdefault(what, []).append(len(statements))

    # One, and one that writes down that they were read, if that is longer ago than a moment.
    assert max(collected.pop("get_multi")) <= 2
    assert all(few == many for few, many in collected.values()), collected
    assert collected["append"] == [1, 1]
