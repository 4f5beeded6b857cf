"""Timelines by the command line."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from tests.timelines.states import state
from trackers import tasks
from trackers.timelines import store
from trackers.timelines.models import Timeline
from trackers.timelines.store import Entry


def run(*words):
    told = StringIO()
    call_command("timeline", *map(str, words), stdout=told, stderr=StringIO())
    return told.getvalue()


def objects(*words):
    return [json.loads(line) for line in run(*words, "--json").splitlines()]


@pytest.fixture
def homes():
    store.set("home:1", [Entry(10, None, b"said"), Entry(20, 10, b"\x1b[2J\xff")])
    store.set("user:9", [])
    store.delete(5, ["never set"])


def test_showing_a_timeline_does_not_count_as_a_read(homes):
    read_at = Timeline.objects.get(name="home:1").last_read_at

    assert objects("show", "home:1") == [
        {"id": "20", "secondary": "10", "metadata": "G1sySv8="},
        {"id": "10", "secondary": None, "metadata": "c2FpZA=="},
    ]
    assert run("show", "home:1").splitlines() == [r"20  of 10  \x1b[2J\xff", "10  said"]
    assert [one["id"] for one in objects("show", "home:1", "--offset", 1)] == ["10"]
    assert [one["id"] for one in objects("show", "home:1", "--dedupe")] == ["10"]
    assert Timeline.objects.get(name="home:1").last_read_at == read_at


def test_all_timelines_are_listed_by_their_names(homes):
    listed = [(one["name"], one["live"], one["size"]) for one in objects("show")]

    assert listed == [("home:1", True, 2), ("never set", False, 0), ("user:9", True, 0)]
    assert [one["name"] for one in objects("show", "--prefix", "user:")] == ["user:9"]
    assert [one["name"] for one in objects("show", "--after", "home:1", "--limit", 1)] == [
        "never set"
    ]
    assert "never set  missing, with tombstones" in run("show")


def test_the_command_makes_a_snapshot_and_restores_it(homes, tmp_path):
    before, file = state(), tmp_path / "dump"

    assert objects("snapshot", file) == [{"timelines": 3}]
    store.append(Entry(30), ["home:1"])
    assert objects("restore", file) == [{"timelines": 3}]

    assert [row[:3] for row in state()] == [row[:3] for row in before]


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (["show", "missing"], 1, "never created"),
        (["show", "x" * 201], 2, "200 characters"),
        (["show", "home:1", "--offset", "-1"], 2, "offset"),
        (["expire", "--days", "-1"], 2, "negative"),
        (["expire", "--days", "nan"], 2, "number of days"),
        (["expire", "--days", "1e300"], 2, "number of days"),
        (["restore", "manage.py"], 1, "Nothing was changed. The file is not a snapshot"),
        (["restore", "nowhere"], 1, "nowhere: No such file"),
        (["snapshot", "nowhere/dump"], 1, "nowhere/dump: No such file"),
    ],
)
def test_impossible_acts_are_refused_with_a_sentence(homes, words, status, why):
    with pytest.raises(CommandError, match=why) as said:
        run(*words)

    assert said.value.returncode == status


def unread_for(days):
    when = timezone.now() - timedelta(days=days)
    Timeline.objects.filter(name="home:1").update(last_read_at=when, read_on=when.date())


def test_unread_timelines_expire(homes):
    unread_for(5)

    assert objects("expire") == [{"expired": 0, "tombstone_days": 90}]
    assert "Expired 1 timelines not read for 4.5 days" in run("expire", "--days", 4.5)

    assert not Timeline.objects.filter(name="home:1").exists()


def test_the_periodic_task_expires_timelines(homes, settings):
    unread_for(5)
    settings.TIMELINE_IDLE_DAYS = 4

    tasks.expire_timelines()

    assert set(Timeline.objects.values_list("name", flat=True)) == {"user:9", "never set"}
