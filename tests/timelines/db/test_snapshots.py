"""A dump of all timelines, and back: exactly, or not at all."""

import io
import json
import os
import random
from datetime import timedelta

import pytest
from django.db import connection

from tests.timelines.states import state
from trackers.timelines import store
from trackers.timelines.models import Timeline, TimelineEntry
from trackers.timelines.store import Entry, SnapshotError


def entries(*ids):
    return [Entry(id, id - 1 if id % 2 else None, bytes([id % 256]) * (id % 90)) for id in ids]


def write_some():
    """Names of many kinds, late arrivals, tombstones of all kinds, an expired timeline."""
    store.set("home:1", entries(10, 20, 30))
    store.append(Entry(15, None, b"late"), ["home:1"])
    store.delete([20, 99], ["home:1", "never set"])
    store.set('odd "ünï\\\n😀', entries(1, 2))
    store.set("empty", [])
    store.set("over", entries(5, 6))
    store.delete(6, ["over"])
    store.drop("over")


def emptied():
    TimelineEntry.objects.all().delete()
    Timeline.objects.all().delete()


def dumped():
    out = io.BytesIO()
    store.snapshot(out)
    return out.getvalue()


def test_restoring_a_snapshot_brings_everything_back(tmp_path):
    write_some()
    before, file = state(), tmp_path / "dump"
    assert len(before) == 5

    assert store.snapshot(file) == 5
    assert [path.name for path in tmp_path.iterdir()] == ["dump"]
    emptied()
    assert store.restore(str(file)) == 5

    assert state() == before
    assert [one.id for one in store.get_since("home:1", 30)] == [15]
    assert [one.id for one in store.get_since("home:1", 20)] == [30, 15]
    assert store.restore(file) == 5
    assert [row[:3] for row in state()] == [row[:3] for row in before]


def test_a_restore_undoes_later_entries_but_no_deletion():
    store.set("home", entries(1, 2, 3))
    store.set("set since", [])
    store.drop("set since")
    dump = dumped()
    store.set("home", entries(3, 4))
    store.delete(3, ["home"])
    store.set("set since", entries(7))

    store.restore(io.BytesIO(dump))

    assert [one.id for one in store.get("home", 0, 9)] == [2, 1]
    # Which was not there then.
    assert [one.id for one in store.get("set since", 0, 9)] == [7]


@pytest.mark.parametrize("seed", range(5))
def test_a_restore_with_an_overlapping_replay_equals_the_original(seed):
    chance = random.Random(seed)
    names = [f"home:{n}" for n in range(5)]

    def act():
        some, id = chance.sample(names, 3), chance.randrange(1, 60)
        return chance.choice(
            [
                lambda: store.append(entries(id)[0], some),
                lambda: store.merge(some[0], entries(id, id + 1, id + 2)),
                lambda: store.delete(id, some),
            ]
        )

    acts = [*(lambda name=name: store.set(name, entries(5)) for name in names[1:])]
    acts += [act() for _ in range(60)]
    at = chance.randrange(20, 50)
    for entry in acts[:at]:
        entry()
    dump = dumped()
    for entry in acts[at:]:
        entry()
    original = contents()
    emptied()

    store.restore(io.BytesIO(dump))
    for entry in acts[at - chance.randrange(15) :]:
        entry()

    assert contents() == original


def contents():
    found = {row[0]: (row[1], row[2], row[4], sorted(id for id, _ in row[5])) for row in state()}
    return {
        name: (live, size, sorted(rows), dead) for name, (live, size, rows, dead) in found.items()
    }


def changed(dump, number, change):
    lines = dump.splitlines(keepends=True)
    told = json.loads(lines[number])
    change(told)
    lines[number] = json.dumps(told).encode() + b"\n"
    return b"".join(lines)


BAD = {
    "nothing": (lambda dump: b"", "not a snapshot"),
    "a picture": (lambda dump: b"\x89PNG\r\n\x1a\n" + bytes(5000), "not a snapshot"),
    "other JSON": (lambda dump: b"[1, 2]\n" + dump, "not a snapshot"),
    "another version": (lambda dump: changed(dump, 0, lambda t: t.update(version=2)), "version 2"),
    "cut in a line": (lambda dump: dump[: len(dump) // 2], "cut"),
    "cut after a line": (lambda dump: b"".join(dump.splitlines(True)[:-1]), "last line is missing"),
    "cut in the last line": (lambda dump: dump[:-1], "cut"),
    "the first line alone": (lambda dump: dump.splitlines(True)[0], "last line is missing"),
    "another id": (lambda dump: dump.replace(b"[15,", b"[16,"), "digest"),
    "a line less": (
        lambda dump: b"".join(dump.splitlines(True)[:2] + dump.splitlines(True)[3:]),
        "digest",
    ),
    "something behind": (lambda dump: dump + b"\n", "follows its last line"),
    "two lines exchanged": (
        lambda dump: b"".join(dump.splitlines(True)[n] for n in (0, 2, 1, 3, 4, 5, 6)),
        "place",
    ),
    "a long name": (lambda dump: changed(dump, 1, lambda t: t.update(name="x" * 201)), "Line 2"),
    "a large id": (
        lambda dump: changed(dump, 2, lambda t: t["entries"][0].__setitem__(0, 2**63)),
        "Line 3",
    ),
    "no entries": (lambda dump: changed(dump, 1, lambda t: t.pop("entries")), "Line 2"),
    "bad base64": (
        lambda dump: changed(dump, 2, lambda t: t["entries"][0].__setitem__(2, "é")),
        "Line 3",
    ),
    "a bad time": (lambda dump: changed(dump, 1, lambda t: t.update(read_at="soon")), "Line 2"),
    "binary": (lambda dump: dump[:200] + b"\xff\xfe" + dump[200:], "damaged"),
}


@pytest.mark.parametrize(("spoil", "why"), BAD.values(), ids=BAD)
def test_an_incomplete_snapshot_is_refused_and_changes_nothing(spoil, why, tmp_path):
    write_some()
    dump = dumped()
    spoilt = spoil(dump)
    assert spoilt != dump
    store.append(Entry(50), ["home:1"])
    before = state()
    file = tmp_path / "dump"
    file.write_bytes(spoilt)

    with pytest.raises(SnapshotError, match=why):
        store.restore(file)

    assert state() == before


def test_a_snapshot_is_restored_from_a_pipe():
    write_some()
    before, dump = state(), dumped()
    emptied()
    reader, writer = os.pipe()
    os.write(writer, dump)
    os.close(writer)

    with os.fdopen(reader, "rb") as pipe:
        assert store.restore(pipe) == 5

    assert state() == before


class Full(io.BytesIO):
    """A disk that is."""

    def write(self, data):
        if self.tell() > 100:
            raise OSError(28, "No space left on device")
        return super().write(data)


def test_a_failed_snapshot_says_so_and_keeps_the_previous_one(tmp_path):
    write_some()

    with pytest.raises(OSError, match="No space"):
        store.snapshot(Full())
    with pytest.raises(OSError, match="No such file"):
        store.snapshot(tmp_path / "missing" / "dump")

    assert store.snapshot(tmp_path / "dump") == 5


def test_after_a_restore_long_unread_timelines_expire():
    store.set("home", entries(1))
    with connection.cursor() as db:
        db.execute(
            "UPDATE trackers_timeline SET last_read_at = now() - interval '9 days',"
            " read_on = current_date - 9"
        )
    dump = dumped()
    emptied()

    store.restore(io.BytesIO(dump))

    assert store.expire(timedelta(days=8)) == 1
