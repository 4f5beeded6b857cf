"""Snapshots while others write, and a restore that is killed."""

import io
import json
import os
import signal
import subprocess
import sys

import pytest

from tests.conftest import PROJECT
from tests.databases import OURS, url_of
from tests.timelines.sessions import PATIENCE, sessions, wait_for, waits_for_a_lock
from tests.timelines.states import entries, state
from trackers.timelines import store
from trackers.timelines.models import Timeline
from trackers.timelines.store import Ask, Entry

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("timelines_alone")]


def test_a_snapshot_is_of_one_moment():
    Timeline.objects.bulk_create(Timeline(name=f"home:{n:03}", live=True) for n in range(250))
    with sessions(1) as [other]:

        class Slow(io.BytesIO):
            """Meanwhile an entry goes into all of them."""

            def write(self, data):
                if data.startswith(b'{"name"') and not self.getvalue().count(b"home:"):
                    other.do(store.append, Entry(1), [f"home:{n:03}" for n in range(250)])
                return super().write(data)

        out = Slow()
        store.snapshot(out)

    assert json.loads(out.getvalue().splitlines()[-1])["entries"] == 0
    assert all(one.size for one in store.get_multi([Ask(f"home:{n:03}") for n in range(250)]))


def test_a_killed_restore_changes_nothing_and_can_be_repeated(tmp_path):
    names = [f"home:{n:03}" for n in range(250)]
    for name in names[::40]:
        store.set(name, entries(1, 2, 3))
    store.merge(names[0], entries(*range(4, 300)))
    store.delete(2, names)
    file = tmp_path / "dump"
    store.snapshot(file)
    was = state()
    store.delete(3, names[::2])
    for name in names[::80]:
        store.set(name, entries(7, 8))
    before = state()
    command = [sys.executable, "manage.py", "timeline", "restore", str(file), "--json"]
    environment = {**os.environ, "DATABASE_URL": url_of(OURS)}

    with sessions(1) as [other]:
        with other.in_transaction():
            # It stands before one that is written to, with a half of them done.
            other.do(store.append, Entry(9), [names[240]])
            restoring = subprocess.Popen(
                command, cwd=PROJECT, env=environment, stdout=subprocess.DEVNULL
            )
            wait_for(waits_for_a_lock, what="the restore has come to the one that is locked")
            os.kill(restoring.pid, signal.SIGKILL)
            restoring.wait(PATIENCE)
        other.do(store.unmerge, names[240], [Entry(9)])

    assert contents_of(state()) == contents_of(before)
    done = subprocess.run(
        command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.returncode, json.loads(done.stdout)) == (0, {"timelines": 250}), done.stderr
    expected = contents_of(was)
    for name in names[::2]:
        live, rows, dead = expected[name]
        expected[name] = (live, [row for row in rows if row != 3], sorted({*dead, 3}))
    assert contents_of(state()) == expected


def contents_of(told):
    """Whether it is live, its live entries, its tombstones, by name."""
    collected = {}
    for name, live, _, _, rows, dead in told:
        gone = sorted(id for id, _ in dead)
        collected[name] = (live, sorted(id for id, *_ in rows if id not in gone), gone)
    return collected
