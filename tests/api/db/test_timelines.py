"""The store by the API: each operation, who may, and what is refused with nothing done."""

import base64
import json

import pytest

from trackers.timelines import store
from trackers.timelines.followers import own
from trackers.timelines.models import Follower, Timeline, TimelineEntry
from trackers.timelines.store import Entry

MISS = {"error": "There is no timeline of this name.", "state": "MISS"}
KEPT = b'{"text":"words"}'


def entries_json(*ids):
    return [{"id": str(id)} for id in ids]


def ids(told):
    assert told["state"] == "HIT"
    assert told["size"] == len(told["entries"])
    return [int(one["id"]) for one in told["entries"]]


def test_entries_are_appended_read_and_deleted_for_good(keeper):
    keeper.put("timelines/a", {"entries": []})
    assert keeper.status == 204
    meta = base64.b64encode(bytes(range(256))).decode()
    entry = {"id": str(2**63 - 1), "secondary": "-7", "metadata": meta}
    keeper.post(
        "timelines/append", {"entries": [entry, *entries_json(3)], "timelines": ["a", "missing"]}
    )
    assert keeper.status == 204

    told = keeper.get("timelines/a")
    assert told == {
        "state": "HIT", "size": 2,
        "entries": [entry, {"id": "3", "secondary": None, "metadata": ""}],
    }  # fmt: skip
    assert (keeper.get("timelines/missing"), keeper.status) == (MISS, 404)

    keeper.post("timelines/delete", {"ids": ["3", "4"], "timelines": ["a"]})
    assert keeper.status == 204
    keeper.put("timelines/a", {"entries": entries_json(3, 4, 5)})
    assert ids(keeper.get("timelines/a")) == [5]


def test_page_offsets_count_from_the_newest_after_retweets_collapse(keeper):
    store.set("a", [Entry(1), Entry(2, secondary=1), Entry(3), Entry(4)])

    assert ids(keeper.get("timelines/a?offset=1&length=2")) == [3, 2]
    assert ids(keeper.get("timelines/a?dedupe=true&offset=1")) == [3, 1]
    assert ids(keeper.get("timelines/a?length=0")) == []


def test_since_returns_newer_and_late_entries(keeper):
    store.set("a", [Entry(5)])
    store.append(Entry(9), ["a"])
    store.append(Entry(2), ["a"])

    assert ids(keeper.get("timelines/a/since/5")) == [9, 2]
    assert ids(keeper.get("timelines/a/since/77")) == [9, 5, 2]
    assert ids(keeper.get("timelines/a/since/5?offset=1&length=1")) == [2]
    assert (keeper.get("timelines/b/since/5"), keeper.status) == (MISS, 404)


def test_merge_and_unmerge_accept_entries_or_another_timeline(keeper):
    store.set("a", [Entry(1)])
    store.set("b", [Entry(2), Entry(3)])

    keeper.post("timelines/a/merge", {"entries": entries_json(4)})
    keeper.post("timelines/a/merge", {"from": "b"})
    assert ids(keeper.get("timelines/a")) == [4, 3, 2, 1]
    keeper.post("timelines/a/unmerge", {"from": "b"})
    keeper.post("timelines/a/unmerge", {"entries": entries_json(1)})
    assert keeper.status == 204
    assert ids(keeper.get("timelines/a")) == [4]
    for act in ("merge", "unmerge"):
        assert (keeper.post(f"timelines/a/{act}", {"from": "c"}), keeper.status) == (MISS, 404)
    keeper.post("timelines/c/merge", {"entries": entries_json(4)})
    assert (keeper.status, keeper.get("timelines/c")) == (204, MISS)


def test_filter_finds_entries_and_their_retweets(keeper):
    store.set("a", [Entry(1), Entry(2, secondary=9), Entry(3), Entry(4)])

    assert ids(keeper.post("timelines/a/filter", {"ids": ["9", "3", "8"]})) == [3, 2]
    assert ids(keeper.post("timelines/a/filter", {"ids": ["9", "3"], "max_search": 2})) == [3]
    assert (keeper.post("timelines/b/filter", {"ids": []}), keeper.status) == (MISS, 404)


def test_several_timelines_are_read_at_once_as_hits_or_misses(keeper):
    store.set("a/b", [Entry(1), Entry(2)])
    store.set("empty", [])

    asks = [
        {"name": "a/b", "offset": 1, "length": 5},
        {"name": "no"},
        {"name": "empty"},
        {"name": "a/b", "since": "1"},
    ]
    answer = keeper.post("timelines/get_multi", {"asks": asks})["segments"]

    assert [(one["state"], one["size"]) for one in answer] == [
        ("HIT", 1), ("MISS", 0), ("HIT", 0), ("HIT", 1),
    ]  # fmt: skip
    assert [ids(answer[0]), ids(answer[3])] == [[1], [2]]


def test_a_dropped_timeline_is_missing(keeper):
    store.set("a", [Entry(1)])

    for _ in range(2):
        keeper.delete("timelines/a")
        assert keeper.status == 204
    assert (keeper.get("timelines/a"), keeper.status) == (MISS, 404)


WRITES = [
    ("POST", "append", {"entries": entries_json(1), "timelines": ["a", "{home}"]}),
    ("POST", "delete", {"ids": ["1"], "timelines": ["a", "{home}"]}),
    ("PUT", "{home}", {"entries": entries_json(1)}),
    ("POST", "{home}/merge", {"entries": entries_json(1)}),
    ("POST", "{home}/unmerge", {"entries": entries_json(1)}),
    ("DELETE", "{home}", None),
]
READS = [
    ("GET", "{home}", None),
    ("GET", "{home}/since/1", None),
    ("POST", "{home}/filter", {"ids": ["1"]}),
    ("POST", "get_multi", {"asks": [{"name": "a"}, {"name": "{home}"}]}),
]
COPIES = [("POST", "a/merge", {"from": "{home}"}), ("POST", "a/unmerge", {"from": "{home}"})]


def run(program, call, home):
    method, path, body = call
    text = None if body is None else json.dumps(body).replace("{home}", home)
    return program.ask(method, f"timelines/{path}".replace("{home}", home), text)


def stored_state():
    entries = TimelineEntry.objects.order_by("timeline_id", "entry_id")
    return list(Timeline.objects.order_by("name").values_list("name", "live", "size")), list(
        entries.values_list("timeline__name", "entry_id", "dead_at")
    )


@pytest.mark.parametrize("call", WRITES + READS + COPIES, ids=lambda call: call[1])
def test_without_the_permission_timelines_are_neither_read_nor_changed(program, call):
    store.set("a", [Entry(7)])
    before = stored_state()

    told = run(program, call, "b")

    assert program.status == 403
    assert "trackers.use_timeline_store" in told["error"]
    assert stored_state() == before


@pytest.mark.parametrize("call", WRITES, ids=lambda call: call[1])
def test_homes_cannot_be_written_not_even_by_their_owner(keeper, call):
    home = f"home:{own(keeper.user).pk}"
    store.set("a", [Entry(7)])
    store.set(home, [Entry(8)])
    before = stored_state()

    assert "home:" in run(keeper, call, home)["error"]
    assert keeper.status == 403
    assert stored_state() == before


@pytest.mark.parametrize("call", READS + COPIES, ids=lambda call: call[1])
def test_only_the_own_home_can_be_read(keeper, call, django_user_model):
    other = Follower.objects.create(user=django_user_model.objects.create_user("other"))
    mine = own(keeper.user)
    for name in ("a", f"home:{mine.pk}", f"home:{other.pk}"):
        store.set(name, [Entry(1)])
    store.set(f"home:{mine.pk}", [Entry(1, metadata=KEPT), Entry(2, metadata=KEPT)])

    run(keeper, call, f"home:{other.pk}")
    assert keeper.status == 403
    told = run(keeper, call, f"home:{mine.pk}")
    assert keeper.status in (200, 204)
    # What a home keeps of a tweet may be what X shows no longer.
    assert base64.b64encode(KEPT).decode() not in json.dumps(told)
    assert all(not one.metadata for one in store.get("a", 0, 9))


LONG = "x" * 201
BAD = [
    ("POST", "append", "{", "Cannot parse"),
    ("POST", "append", "[]", ""),
    ("POST", "append", {"timelines": ["a"]}, "entries: "),
    ("POST", "append", {"entries": [{"id": 5}], "timelines": ["a"]}, "entries.0.id: an id is"),
    ("POST", "append", {"entries": [{"id": "²"}], "timelines": ["a"]}, "string of up to 19"),
    ("POST", "append", {"entries": entries_json(1, 2**63), "timelines": ["a"]}, "64 bits"),
    ("POST", "append", {"entries": [{"id": "1", "meta": ""}], "timelines": ["a"]}, "0.meta"),
    ("POST", "append", {"entries": [{"id": "1", "metadata": "*"}], "timelines": ["a"]}, "base64"),
    ("POST", "append", {"entries": entries_json(1), "timelines": ["a", LONG]}, "1 to 200"),
    ("POST", "append", {"entries": entries_json(1), "timelines": ["a", "\0"]}, "NUL"),
    ("POST", "append", {"entries": entries_json(1), "timelines": ["a", "\ud800"]}, ""),
    ("POST", "append", {"entries": entries_json(1), "timelines": ["a", 5]}, "timelines.1: "),
    ("POST", "append", {"entries": entries_json(*range(101)), "timelines": ["a"] * 100}, "10000"),
    ("POST", "append", {"entries": entries_json(*range(1001)), "timelines": ["a"]}, "entries: "),
    ("POST", "delete", {"ids": ["1", "x"], "timelines": ["a"]}, "ids.1: "),
    ("POST", "delete", {"ids": "12", "timelines": ["a"]}, "ids: "),
    (
        "PUT",
        "a",
        {"entries": [*entries_json(3), {"id": "4", "secondary": "y"}]},
        "entries.1.secondary",
    ),
    ("PUT", LONG, {"entries": []}, "1 to 200"),
    ("POST", "a/merge", {}, "Give either"),
    ("POST", "a/merge", {"entries": [], "from": "b"}, "Give either"),
    ("POST", "a/merge", {"from": ""}, "1 to 200"),
    ("POST", "a/filter", {"ids": [], "max_search": -2}, "max_search"),
    ("GET", "a?offset=-1", None, "offset"),
    ("GET", "a?offset=x", None, "offset: "),
    ("GET", "a?length=1001", None, "length: "),
    ("GET", "a?length=-1", None, "length"),
    ("GET", "a/since/x", None, "id: "),
    ("POST", "get_multi", {"asks": [{"name": "a", "length": -1}]}, "length"),
    ("POST", "get_multi", {"asks": [{"name": "a", "length": 1000}] * 6}, "5000"),
    ("POST", "get_multi", {"asks": [{"name": "a"}] * 101}, "asks: "),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "says"), BAD, ids=[f"{one[1][:9]}-{n}" for n, one in enumerate(BAD)]
)
def test_malformed_input_is_refused_with_one_sentence(keeper, method, path, body, says):
    store.set("a", [Entry(7)])
    before = stored_state()

    answer = keeper.ask(method, f"timelines/{path}", body)

    assert keeper.status == 400
    assert set(answer) == {"error"}
    assert says in answer["error"]
    assert stored_state() == before


def test_metadata_over_its_bound_is_refused(keeper, settings):
    settings.TIMELINE_METADATA_BYTES = 2
    keeper.put("timelines/a", {"entries": [{"id": "1", "metadata": "AAAA"}]})
    assert keeper.status == 400
    assert stored_state() == ([], [])


def test_an_oversized_body_is_not_read(keeper, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000
    told = keeper.put("timelines/a", {"entries": entries_json(*range(500))})
    assert (keeper.status, told) == (413, {"error": "The body is too large: send less at a time."})
    assert stored_state() == ([], [])
