"""Intervals by the API: read, previewed, replaced as a whole, and not over somebody's change."""

from datetime import timedelta

import pytest

from tests.api.conftest import Program
from trackers.schedule.models import Interval, Replanning

NEW = {"intervals": [
    {"younger_than": "1h", "every": "60s"},
    {"younger_than": "7d", "every": "1d", "jitter": 0.2, "enabled": False},
]}  # fmt: skip


def lengths():
    return list(Interval.objects.values_list("younger_than", "every", "jitter", "enabled"))


def test_intervals_are_read_and_replaced_as_a_whole(owner):
    before = owner.get("intervals")["intervals"]
    assert len(before) == Interval.objects.count() > 2

    told = owner.put("intervals", NEW)

    assert owner.status == 200
    assert told["intervals"][0] == {
        "younger_than": "1h", "every": "60s", "jitter": 0.05, "enabled": True,
        "accuracy": None, "at_most": None, "at_least": None,
    }  # fmt: skip
    assert lengths() == [
        (timedelta(hours=1), timedelta(minutes=1), 0.05, True),
        (timedelta(days=7), timedelta(days=1), 0.2, False),
    ]
    assert not Replanning.objects.filter(begun_at__isnull=False).exists()
    assert owner.put("intervals", {"intervals": before, "replan": True})["intervals"] == before
    assert Replanning.objects.exists()


def test_a_concurrent_change_is_not_overwritten(owner):
    owner.get("intervals")
    seen = owner.headers["ETag"]
    owner.ask("PUT", "intervals", NEW, **{"If-Match": seen})
    assert owner.status == 200

    told = owner.ask("PUT", "intervals", {"intervals": NEW["intervals"][:1]}, **{"If-Match": seen})
    assert (owner.status, "read them again" in told["error"]) == (412, True)
    assert len(lengths()) == 2
    owner.get("intervals")
    owner.ask("PUT", "intervals", NEW, **{"If-Match": owner.headers["ETag"]})
    assert owner.status == 200


def test_a_preview_returns_the_cost_and_changes_nothing(owner):
    Interval.objects.exclude(younger_than=timedelta(hours=1)).delete()
    Interval.objects.update(every=timedelta(minutes=2))
    before = lengths()

    answer = owner.post("intervals/preview", NEW)

    assert (owner.status, lengths()) == (200, before)
    assert (answer["before"]["life"], answer["after"]["life"]) == (30, 60)
    assert (answer["times"], answer["is_large"]) == (2, False)


def test_a_list_that_costs_more_than_twice_as_much_must_be_confirmed(owner):
    Interval.objects.exclude(younger_than=timedelta(hours=1)).delete()
    Interval.objects.update(every=timedelta(minutes=3))
    before = lengths()

    problem = owner.put("intervals", NEW)

    assert (owner.status, lengths()) == (409, before)
    assert problem["error"].startswith("This asks X for 3.0 times as much as now.")
    assert problem["preview"] == owner.post("intervals/preview", NEW)
    assert problem["preview"]["is_large"]
    owner.put("intervals", {**NEW, "confirm": True})
    assert (owner.status, lengths()[0][1]) == (200, timedelta(minutes=1))


BAD = [
    ({"intervals": []}, 422, "An empty list"),
    ({"intervals": [{"younger_than": "1h", "every": "60s"}] * 2}, 422, "Younger than 1h appears"),
    ({"intervals": [{"younger_than": "1h", "every": "2h"}]}, 422, "Younger than 1h: every 2h"),
    ({"intervals": [{"younger_than": "1h", "every": "often"}]}, 400, "intervals.0.every: “often”"),
    ({"intervals": [{"younger_than": 60, "every": "1s"}]}, 400, "intervals.0.younger_than: a dur"),
    (
        {"intervals": [{"younger_than": "1h", "every": "1s", "jitter": 2}]},
        400,
        "intervals.0.jitter",
    ),
    ({}, 400, "intervals: Field required"),
]


@pytest.mark.parametrize(("given", "status", "says"), BAD, ids=[one[2][:12] for one in BAD])
def test_an_invalid_list_changes_nothing(owner, given, status, says):
    before = lengths()
    for method, path in (("PUT", "intervals"), ("POST", "intervals/preview")):
        told = owner.ask(method, path, given)
        assert (owner.status, told["error"].startswith(says)) == (status, True), told
    assert lengths() == before


def test_view_permission_cannot_replace_intervals(owner, program):
    before = lengths()
    writer = Program(owner.client, owner.user, "write")
    reader = Program(owner.client, owner.user, "read")
    assert "scope admin" in writer.put("intervals", NEW)["error"]
    reader.post("intervals/preview", NEW)
    assert reader.status == 200
    program.put("intervals", NEW)
    assert (program.status, lengths()) == (403, before)


def test_an_adapting_interval_reads_back_as_it_was_written(owner):
    row = {
        "younger_than": "1h", "every": "5m", "jitter": 0.05, "enabled": True,
        "accuracy": 0.05, "at_most": "30s", "at_least": "15m",
    }  # fmt: skip

    told = owner.put("intervals", {"intervals": [row]})

    assert (owner.status, told["intervals"]) == (200, [row])
    assert owner.get("intervals")["intervals"] == [row]
    owner.put("intervals", {"intervals": [{**row, "at_most": "20m"}]})
    assert owner.status == 422
    assert [one.written for one in Interval.objects.all()] == ["1h=30s..15m@5%"]


def test_a_list_without_adapting_fields_keeps_rows_adapting(owner):
    """What it read, changed and put back would make them all fixed."""
    adapting = {
        "younger_than": "1h", "every": "5m", "accuracy": 0.05, "at_most": "30s", "at_least": "15m",
    }  # fmt: skip
    owner.put("intervals", {"intervals": [adapting]})
    for rows in (NEW["intervals"], [{**adapting, "younger_than": "30m"}, *NEW["intervals"]]):
        told = owner.put("intervals", {"intervals": rows})
        assert (owner.status, "give each an accuracy" in told["error"]) == (422, True)
        assert Interval.objects.get().accuracy == 0.05

    owner.put("intervals", {"intervals": [{**one, "accuracy": None} for one in NEW["intervals"]]})
    assert (owner.status, Interval.objects.filter(accuracy=None).count()) == (200, 2)
    owner.put("intervals", NEW)
    assert owner.status == 200


def test_an_etag_weakened_by_a_proxy_still_matches(owner):
    owner.get("intervals")
    tag = owner.headers["ETag"]
    marked = f'W/{tag[:-1]}-gzip"'
    for given, status in ((marked, 200), (marked, 412), (tag, 412), ("odd", 412), ("*", 200)):
        owner.ask("PUT", "intervals", NEW, **{"If-Match": given})
        assert owner.status == status, given
