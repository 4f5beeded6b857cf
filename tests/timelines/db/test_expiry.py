"""When a timeline ends: nobody has read it for long, it is dropped, its tombstones are old."""

from datetime import timedelta

import pytest
from django.db import connection

from tests.timelines.states import entries, read_ids
from trackers.timelines import store
from trackers.timelines.models import Timeline, TimelineEntry
from trackers.timelines.store import Ask, Entry, TimelineMissing


def a_day_passes():
    with connection.cursor() as db:
        db.execute(
            "UPDATE trackers_timeline SET last_read_at = last_read_at - interval '1 day',"
            " read_on = read_on - 1"
        )
        db.execute("UPDATE trackers_timelineentry SET dead_at = dead_at - interval '1 day'")


def test_reads_and_sets_postpone_expiry_and_appends_do_not():
    names = ["read", "since", "filtered", "asked", "set", "appended", "missed", "shown"]
    for name in names:
        store.set(name, entries(1))
    a_day_passes()
    store.get("read", 0, 1)
    store.get_since("since", 1)
    store.filter("filtered", [])
    store.get_multi([Ask("asked")])
    store.set("set", [])
    store.append(Entry(2), ["appended"])
    store.merge("missed", entries(2))
    store.delete(1, ["missed"])
    a_day_passes()

    assert store.expire(timedelta(days=1, hours=12)) == 3

    live = Timeline.objects.filter(live=True).values_list("name", flat=True)
    assert sorted(live) == ["asked", "filtered", "read", "set", "since"]
    assert store.expire(timedelta(days=1, hours=12)) == 0


def test_tombstones_outlive_their_timeline_by_a_bound():
    kept = timedelta(days=2, hours=12)
    store.set("home", entries(1, 2))
    store.delete(1, ["home", "never set"])
    a_day_passes()
    a_day_passes()
    assert store.expire(timedelta(days=1), tombstones=kept) == 1
    a_day_passes()
    store.expire(timedelta(days=1), tombstones=kept)

    # Three days after the deletion, and one after the timeline's end.
    assert list(Timeline.objects.values_list("name", "live")) == [("home", False)]
    a_day_passes()
    a_day_passes()
    store.expire(timedelta(days=1), tombstones=kept)

    assert Timeline.objects.count() == TimelineEntry.objects.count() == 0
    store.set("home", entries(1))
    assert read_ids() == [1]


def test_old_tombstones_of_a_read_timeline_are_pruned():
    store.set("home", entries(1, 2))
    store.delete(1, ["home"])
    a_day_passes()
    store.get("home", 0, 1)

    store.expire(timedelta(hours=12), tombstones=timedelta(hours=12))

    assert read_ids() == [2]
    assert TimelineEntry.objects.count() == 1


def test_a_dropped_timeline_is_missing_and_dropping_is_repeatable():
    store.set("home", entries(1))

    store.drop("home")
    store.drop("home")
    store.drop("never set")

    assert not Timeline.objects.exists()
    with pytest.raises(TimelineMissing):
        store.get("home", 0, 1)


def test_many_timelines_expire_in_pieces():
    store.append_many([])
    for n in range(120):
        store.set(f"home:{n}", entries(1, 2))

    assert store.expire(timedelta(0)) == 120
    assert Timeline.objects.count() == TimelineEntry.objects.count() == 0
