"""The Makefile, run as a person runs it."""

import shutil
import subprocess
import venv
from pathlib import Path

import pip

from tests.conftest import PROJECT


def test_a_linked_virtual_environment_is_used_as_it_is(tmp_path):
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    venv.create(elsewhere)
    # The pip that is here: one of its own takes seconds to install.
    [packages] = elsewhere.glob("lib/python*/site-packages")
    (packages / "pip").symlink_to(Path(pip.__file__).parent)
    shutil.copy(PROJECT / "Makefile", here)
    (here / "requirements.txt").touch()
    (here / ".venv").symlink_to(elsewhere)

    ran = subprocess.run(["make", ".venv/made"], cwd=here, capture_output=True, text=True)

    assert ran.returncode == 0, ran.stderr
    assert (elsewhere / "made").exists()


def test_make_quick_runs_the_unit_and_db_folders():
    done = subprocess.run(
        ["make", "--dry-run", "--old-file=.venv/made-dev", "--old-file=.env", "quick"],
        cwd=PROJECT, capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip

    [command] = [line for line in done.splitlines() if "pytest" in line]
    folders = {folder for need in ("unit", "db") for folder in PROJECT.glob(f"tests/**/{need}")}
    named = {PROJECT / word for word in command.split() if word.startswith("tests/")}
    assert folders - named == {PROJECT / "tests" / "admin" / "db", PROJECT / "tests" / "api" / "db"}
    assert named < folders
