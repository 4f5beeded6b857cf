"""The programs beside the suite start: `make chaos`, `make screenshots`."""

import os
import subprocess
import sys

import pytest

from tests.conftest import PROJECT


@pytest.mark.parametrize("program", ["tests.chaos", "tests.screenshots"])
def test_each_program_prints_its_usage(program):
    # Of the shell of whoever calls make, not of pytest.
    env = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}

    done = subprocess.run(
        [sys.executable, "-m", program, "--help"],
        cwd=PROJECT, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    assert "usage:" in done.stdout
