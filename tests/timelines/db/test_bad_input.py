"""What the store does not take is refused with a clear error, and changes nothing."""

from datetime import timedelta

import pytest

from tests.timelines.db.test_store import entries
from trackers.timelines import store
from trackers.timelines.models import Timeline, TimelineEntry
from trackers.timelines.store import Ask, Bounds, Entry

ENTRY = Entry(1)
TOO_LONG = "x" * 201
BAD = {
    "append no entry": lambda: store.append(1, ["home"]),
    "append of a name": lambda: store.append(ENTRY, "home"),
    "append nowhere": lambda: store.append(ENTRY, None),
    "append long": lambda: store.append(ENTRY, ["home", TOO_LONG]),
    "append unnamed": lambda: store.append(ENTRY, ["home", ""]),
    "append NUL": lambda: store.append(ENTRY, ["home", "a\0b"]),
    "append half a character": lambda: store.append(ENTRY, ["home", "a\ud800"]),
    "append number": lambda: store.append(ENTRY, ["home", 5]),
    "append large id": lambda: store.append(Entry(2**63), ["home"]),
    "append small id": lambda: store.append(Entry(-(2**63) - 1), ["home"]),
    "append text id": lambda: store.append(Entry("5"), ["home"]),
    "append true id": lambda: store.append(Entry(True), ["home"]),
    "append large secondary": lambda: store.append(Entry(5, 2**63), ["home"]),
    "append text": lambda: store.append(Entry(5, None, "text"), ["home"]),
    "append large metadata": lambda: store.append(Entry(5, None, b"x" * 4097), ["home"]),
    "append_many a long one": lambda: store.append_many([("home", Entry(5)), (TOO_LONG, ENTRY)]),
    "append_many no pair": lambda: store.append_many([("home", Entry(5)), ENTRY]),
    "append_many bad entry": lambda: store.append_many(
        [("home", Entry(5)), ("home", Entry(2**70))]
    ),
    "delete text": lambda: store.delete("1", ["home"]),
    "delete large": lambda: store.delete(2**63, ["home"]),
    "delete nothing": lambda: store.delete(None, ["home"]),
    "delete of a name": lambda: store.delete(1, "home"),
    "delete long": lambda: store.delete(1, ["home", TOO_LONG]),
    "get negative offset": lambda: store.get("home", -1, 5),
    "get negative length": lambda: store.get("home", 0, -1),
    "get half": lambda: store.get("home", 0.5, 1),
    "get long": lambda: store.get(TOO_LONG, 0, 1),
    "get nothing": lambda: store.get(None, 0, 1),
    "since large": lambda: store.get_since("home", 2**63),
    "since nothing": lambda: store.get_since("home", None),
    "multi no ask": lambda: store.get_multi(["home"]),
    "multi negative": lambda: store.get_multi([Ask("home"), Ask("home", -1)]),
    "filter negative": lambda: store.filter("home", [1], -2),
    "filter text": lambda: store.filter("home", "12"),
    "filter large": lambda: store.filter("home", [2**63]),
    "set long": lambda: store.set(TOO_LONG, []),
    "set text": lambda: store.set("home", "text"),
    "set ids": lambda: store.set("home", [5]),
    "set bad entry": lambda: store.set("home", [Entry(5), Entry(2**63)]),
    "merge name": lambda: store.merge("home", "user"),
    "merge bad entry": lambda: store.merge("home", [Entry(5), Entry(2**63)]),
    "unmerge ids": lambda: store.unmerge("home", [1]),
    "merge_from long": lambda: store.merge_from("home", TOO_LONG),
    "unmerge_from long": lambda: store.unmerge_from(TOO_LONG, "home"),
    "drop long": lambda: store.drop(TOO_LONG),
    "expire negative": lambda: store.expire(timedelta(seconds=-1)),
    "expire number": lambda: store.expire(5),
    "expire tombstones": lambda: store.expire(timedelta(0), tombstones=timedelta(-1)),
    "bounds": lambda: store.set("home", [], bounds=Bounds(3, 2)),
}


@pytest.mark.parametrize("act", BAD.values(), ids=BAD)
def test_bad_input_is_refused_and_changes_nothing(act):
    store.set("home", entries(1, 2))
    before = state()

    with pytest.raises(ValueError, match=r"\w+ .+"):
        act()

    assert state() == before


def state():
    return [list(model.objects.order_by("pk").values_list()) for model in (Timeline, TimelineEntry)]


def test_the_largest_ids_and_bounds_are_accepted():
    extremes = [Entry(2**63 - 1, -(2**63)), Entry(-(2**63), 2**63 - 1, b"x" * 4096)]
    store.set("home", extremes)

    assert store.get("home", 0, 2**80) == extremes
    assert store.get("home", 2**80, 1) == []
    assert store.get_since("home", -(2**63)) == extremes[:1]
    assert store.expire(timedelta.max) == 0
