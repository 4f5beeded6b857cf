"""A run that is told to end leaves no process and no file, however far it came."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.chaos.ground import Postgres, wait_until
from tests.conftest import PROJECT
from tweetwatch.embedded.status import keeper_pid


@pytest.fixture
def begun(tmp_path):
    """`python -m tests.chaos`, with its directories under the test's."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.chaos", "--keep", str(tmp_path / "kept")],
        cwd=PROJECT,
        env={**os.environ, "TMPDIR": str(tmp_path), "CHAOS_SEED": "5"},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    yield process
    process.kill()
    process.wait(10)
    process.stderr.close()


def has_a_keeper(_run, postgres):
    return keeper_pid(postgres.place)


def makes_tables(run, _postgres):
    return any("migrate" in arguments(child) for child in run.children())


def arguments(process):
    with suppress(psutil.Error):  # It has just ended.
        return process.cmdline()
    return []


def is_over(process):
    """A zombie is: its parent ended before it, and nobody else has asked yet."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("number", "moment"), [(signal.SIGINT, has_a_keeper), (signal.SIGTERM, makes_tables)]
)
def test_a_run_that_is_told_to_end_takes_everything_along(begun, tmp_path, number, moment):
    run, postgres = psutil.Process(begun.pid), Postgres(tmp_path / "kept" / "postgres")
    wait_until(lambda: moment(run, postgres), within=240, what=moment.__name__)
    children = run.children(recursive=True)

    # As `timeout` does: to the process, and then to its group with it.
    begun.send_signal(number)
    os.killpg(begun.pid, number)

    assert begun.wait(120) == 128 + number
    assert begun.stderr.read().endswith(f"ended by {number.name}\n")
    assert children
    assert [one for one in children if not is_over(one)] == []
    assert postgres.is_left()
    assert not list(tmp_path.glob("chaos-*"))
    assert not list(Path("/tmp").glob(f"chaos-{begun.pid}-*"))
