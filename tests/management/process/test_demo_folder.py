"""The demo empties a folder that a demo made, of what demos make, and no other."""

import os
import subprocess
import sys

import pytest
from django.core.management.base import CommandError

from tests.conftest import PROJECT
from trackers.management.demo_folder import MARKER, empty_folder, lock_folder


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "demo"


@pytest.fixture
def elsewhere(tmp_path):
    """A folder of somebody's that a link may lead to."""
    precious = tmp_path / "elsewhere" / "precious"
    precious.parent.mkdir()
    precious.write_text("not a demo's")
    return precious


def demo_was_in(folder):
    os.close(lock_folder(folder))
    (empty_folder(folder) / "pages.log").write_text("a line")
    (folder / "postgres" / "data").mkdir(parents=True)


def test_a_folder_that_no_demo_made_is_left_alone(folder):
    (folder / "log").mkdir(parents=True)
    (folder / "log" / "syslog").write_text("a line")

    ran = subprocess.run(
        [sys.executable, "manage.py", "demo", "--port=0", f"--directory={folder}"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert ran.returncode == 1
    assert f"{folder} is not empty, and no demo made it" in ran.stderr
    assert "remove it yourself" in ran.stderr
    assert [path.name for path in folder.iterdir()] == ["log"]
    assert (folder / "log" / "syslog").read_text() == "a line"


def test_the_folder_of_a_demo_is_emptied_for_the_next(folder):
    demo_was_in(folder)

    os.close(lock_folder(folder))
    logs = empty_folder(folder)

    assert sorted(path.name for path in folder.iterdir()) == [MARKER, "log"]
    assert not any(logs.iterdir())


def test_an_empty_folder_is_used(folder):
    folder.mkdir()

    os.close(lock_folder(folder))

    assert (folder / MARKER).is_file()


def test_a_demo_folder_with_foreign_files_is_not_emptied(folder):
    demo_was_in(folder)
    (folder / "thesis.txt").write_text("years of work")

    with pytest.raises(CommandError, match=r"no demo made \(thesis\.txt\)"):
        lock_folder(folder)

    assert (folder / "log" / "pages.log").exists()


@pytest.mark.parametrize("name", ["log", "postgres"])
def test_no_link_is_followed_out_of_the_folder(folder, elsewhere, name):
    os.close(lock_folder(folder))
    (folder / name).symlink_to(elsewhere.parent)
    deeper = empty_folder(folder) / "deeper"
    deeper.symlink_to(elsewhere.parent)

    empty_folder(folder)

    assert elsewhere.read_text() == "not a demo's"
    assert not (folder / name).is_symlink()


def test_a_link_is_not_accepted_as_the_marker_file(folder, elsewhere):
    folder.mkdir()
    (folder / MARKER).symlink_to(elsewhere)

    with pytest.raises(CommandError, match="no demo made it"):
        lock_folder(folder)


def test_two_demos_cannot_share_a_folder_and_touch_no_file_beside_it(folder):
    # The lock used to be there, which emptied such a file.
    beside = folder.with_suffix(".lock")
    beside.write_text("pinned versions")
    first = lock_folder(folder)

    with pytest.raises(CommandError, match="Another demo is running"):
        lock_folder(folder)

    os.close(first)
    os.close(lock_folder(folder))
    assert beside.read_text() == "pinned versions"


def test_a_file_in_place_of_the_folder_is_refused_with_a_sentence(folder):
    folder.write_text("")

    with pytest.raises(CommandError, match="cannot be used: File exists"):
        lock_folder(folder)
