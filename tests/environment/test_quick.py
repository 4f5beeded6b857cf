"""`make quick` is what its name says: nothing of it is a flow, needs a browser, or takes long."""

from __future__ import annotations

import subprocess

from tests.conftest import PROJECT

SLOW = ("alone", "browser", "more")


def test_make_quick_runs_those_that_are_marked():
    told = subprocess.run(
        ["make", "--dry-run", "--old-file=.venv/made-dev", "--old-file=.env", "quick"],
        cwd=PROJECT, capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip

    [command] = [line for line in told.splitlines() if "pytest" in line]
    assert command.endswith(" -m quick")


def test_those_are_neither_flows_nor_slow(request):
    quick = [one for one in request.session.items if one.get_closest_marker("quick")]

    assert request.node in quick
    for one in quick:
        assert "flows" not in one.path.parts
        assert not any(one.get_closest_marker(name) for name in SLOW)
