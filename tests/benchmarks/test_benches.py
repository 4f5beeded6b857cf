"""Every bench in seconds, on a few tweets: that it runs, is right, and leaves nothing behind.

Never how fast: that is what the benches are for.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from xml.etree import ElementTree

import psutil
import psycopg
import pytest
from django.conf import settings

from tests.benchmarks.results import Bar
from tests.conftest import PROJECT
from tests.databases import url_of

SMALL = ("--minutes", "0.04", "--tweets", "3000")
# Side by side: most of the time is waiting, and nothing here asks for speed.
SHORT = (["pipeline", "limit"], ["store", "files", "timelines", "cadence"])
ALL = (
    ["pipeline", "adapting", "limit", "stock", "orm-batch"],
    ["scale", "churn", "workers", "events"],
    ["burst", "lateness", "leak", "store", "files", "pages", "screens", "timelines", "cadence"],
)


def bench(*arguments):
    return subprocess.Popen(
        [sys.executable, "manage.py", "bench", *arguments],
        cwd=PROJECT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@dataclass(frozen=True)
class Run:
    status: int
    results: dict
    output: str


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    return tmp_path_factory.mktemp("pictures")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(SHORT, id="a few"),
        pytest.param(ALL, id="all", marks=[pytest.mark.more, pytest.mark.timeout(900)]),
    ],
)
def parts(request):
    return request.param


@pytest.fixture(scope="module")
def runs(parts, pictures):
    """The benches of all parts, once."""
    asked = (*SMALL, "--json", "--check", "--pictures", str(pictures))
    started = [bench(*part, *asked) for part in parts]
    done = []
    for process in started:
        out, complaint = process.communicate()
        assert out, complaint
        done.append(Run(process.returncode, json.loads(out), complaint))
    return done


@pytest.fixture
def benches(runs):
    return {one["name"]: one for run in runs for one in run.results["benches"]}


@pytest.fixture
def together(benches):
    """Those that work in turns have one result."""
    return next(one for name, one in benches.items() if "pipeline" in name)


@pytest.fixture
def server():
    with psycopg.connect(url_of("postgres"), autocommit=True) as connection:
        yield connection


def test_every_bench_of_the_list_tells_a_result(benches, parts):
    first, *others = parts
    assert list(benches) == [" ".join(first), *(name for part in others for name in part)]


def test_every_result_has_rows_with_one_set_of_columns_and_judged_bars(benches):
    for entry in benches.values():
        assert entry["rows"]
        assert len({tuple(row) for row in entry["rows"]}) == 1, entry["name"]
        assert entry["bars"]
        for bar in entry["bars"]:
            assert set(bar) == {"name", "measured", "sense", "bar", "unit", "book", "met"}


def test_what_was_recorded_is_what_was_answered_and_said_to_be_saved(together):
    books = [bar for bar in together["bars"] if bar["book"]]

    assert len(books) == 2
    assert [bar["measured"] for bar in books] == [0, 0]


def test_the_ratios_come_with_their_spread(together, parts):
    spreads = {spread["name"]: spread for spread in together["spreads"]}

    ratios = [f"pipeline ÷ {name}" for name in parts[0] if name in ("stock", "orm-batch")]
    ratios += [f"{name} ÷ pipeline" for name in parts[0] if name == "adapting"]
    for name in (*ratios, "CPU of limit ÷ CPU of pipeline without the fake's"):
        ratio = spreads[name]
        assert 0 < ratio["least"] <= ratio["median"] <= ratio["most"]


def test_no_sample_is_lost_on_its_way_through_the_store(benches):
    books = [bar for bar in benches["store"]["bars"] if bar["book"]]

    assert len(books) == 3
    assert all(bar["met"] for bar in books), books


def test_eight_writers_of_the_timeline_store_lose_nothing(benches):
    books = {bar["name"]: bar for bar in benches["timelines"]["bars"] if bar["book"]}

    assert list(books) == ["8 writers: lost", "8 writers: faults"]
    assert all(bar["met"] for bar in books.values()), books


def test_every_event_that_was_published_is_received_or_queued(benches, parts):
    if parts is SHORT:
        pytest.skip("not among the few; tests/events has a trial of its own")
    books = [bar for bar in benches["events"]["bars"] if bar["book"]]

    assert len(books) == 6
    assert all(bar["met"] for bar in books), books


def test_a_page_is_timed_by_each_strategy_and_as_a_browser_gets_it(benches):
    timed = {spread["name"]: spread["median"] for spread in benches["timelines"]["spreads"]}

    for key in ("read", "cache", "sized", "timed"):
        assert timed[f"SQL of {key}: page one"] > 0
        assert timed[f"Home by {key}"] > timed[f"SQL of {key}: page one"]


def test_a_cadence_is_judged_in_the_fakes_world_and_in_others(benches):
    cadences = benches["cadence"]
    judged = {bar["name"] for bar in cadences["bars"]}

    assert {"equal look-ups: now", "not seen before, equal look-ups: now"} <= judged
    assert {"late second waves: curve", "late second waves: now"} <= judged
    worlds = {row["world"] for row in cadences["rows"]}
    assert worlds == {"the fake's", "decays", "late second waves"}
    compared = [row for row in cadences["rows"] if row["look-ups"] is not None]
    assert all(row["look-ups"] > 0 and row["curve %"] > 0 for row in compared)


def test_the_curves_are_drawn_with_a_line_for_each_strategy(benches, pictures):
    for what, keys in (("reads", 4), ("delivers", 3)):
        picture = ElementTree.parse(pictures / f"timelines-{what}.svg")
        lines = picture.findall("{http://www.w3.org/2000/svg}polyline")

        # A point for each of 1, 2 and 4.
        assert [len(line.get("points").split()) for line in lines] == [3] * keys


def test_every_rate_is_of_measurements_that_were_committed(benches, together):
    assert together["spreads"][0]["least"] > 0
    rates = {
        "scale": ("at first tweets/s", "then tweets/s"),
        "workers": ("tweets/s",),
        "lateness": ("looked at",),
        "burst": ("look-ups of young",),
    }
    rated = [(name, rates[name]) for name in benches if name in rates]
    for name, columns in rated:
        for row in benches[name]["rows"]:
            assert all(row[column] > 0 for column in columns), (name, row)


def test_the_machine_and_the_length_are_told_before_it_begins(runs):
    with psycopg.connect(url_of("postgres")) as db:
        [synchronous_commit] = db.execute("SHOW synchronous_commit").fetchone()
    for run in runs:
        machine = run.results["machine"]
        assert machine["cores"] >= 1
        assert machine["settings"]["synchronous_commit"] == synchronous_commit
        first = run.output.index("This will take about")
        assert machine["postgres"] in run.output[:first]
        assert "loading" in run.output[first:]


def test_nothing_is_left_behind(runs, server):
    left = server.execute("SELECT datname FROM pg_database WHERE datname ~ '^bench_'").fetchall()

    assert not [name for (name,) in left if not psutil.pid_exists(int(name.split("_")[2]))]


@pytest.mark.more
def test_an_interrupted_bench_ends_its_processes_and_drops_its_databases(server):
    process = bench("pipeline", "--tweets", "2000")
    ours = f"bench_tweetwatch_{process.pid}_%"
    count = "SELECT count(*) FROM pg_stat_activity WHERE datname LIKE %s"
    deadline = time.monotonic() + 120
    # Its own connections and those of a cluster at work.
    while server.execute(count, (ours,)).fetchone()[0] < 3:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    children = psutil.Process(process.pid).children(recursive=True)
    assert children

    process.send_signal(signal.SIGINT)
    complaint = process.communicate(timeout=120)[1]

    assert process.returncode == 1
    assert "Interrupted" in complaint
    assert not [child for child in children if child.is_running()]
    there = "SELECT count(*) FROM pg_database WHERE datname LIKE %s"
    assert server.execute(there, (ours,)).fetchone()[0] == 0


def test_check_exits_with_1_when_a_bar_is_missed_and_only_then(runs):
    for run in runs:
        bars = [bar for one in run.results["benches"] for bar in one["bars"]]
        assert run.results["met"] is all(bar["met"] for bar in bars)
        assert run.status == (0 if run.results["met"] else 1)
        assert run.output.count("MISSED") == sum(not bar["met"] for bar in bars)


def test_an_unknown_bench_is_a_mistake_of_use():
    process = bench("speed")
    complaint = process.communicate(timeout=120)[1]

    assert process.returncode == 2
    assert "There is no bench speed" in complaint


def test_an_installation_without_the_tests_is_told_what_is_missing(tmp_path):
    for part in ("fakex", "trackers", "tweetwatch"):
        shutil.copytree(PROJECT / part, tmp_path / part)
    shutil.copy(PROJECT / "manage.py", tmp_path)

    done = subprocess.run(
        [sys.executable, "manage.py", "bench", "store"],
        cwd=tmp_path,
        env={
            **os.environ,
            "SECRET_KEY": settings.SECRET_KEY,
            "FIELD_KEYS": ",".join(settings.FIELD_KEYS),
        },
        capture_output=True,
        text=True,
    )

    assert done.returncode == 1
    assert "come with the sources" in done.stderr


@pytest.mark.parametrize(
    ("bar", "met"),
    [
        pytest.param(Bar("rate", 10, 10), True, id="reached exactly"),
        pytest.param(Bar("rate", 9.9, 10), False, id="below"),
        pytest.param(Bar("time", 5, 5, "at most"), True, id="in time"),
        pytest.param(Bar("time", 5.1, 5, "at most"), False, id="too late"),
        pytest.param(Bar("lost", 0, 0, "exactly"), True, id="none lost"),
        pytest.param(Bar("lost", -1, 0, "exactly"), False, id="one too many"),
        pytest.param(Bar("rate", None, 0), False, id="nothing measured"),
    ],
)
def test_a_bar_is_met_when_it_is_reached(bar, met):
    assert bar.met is met
