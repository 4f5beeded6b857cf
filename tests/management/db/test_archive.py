"""`manage.py archive`: what it says, and what it refuses."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from tests.tweets.archive.samples import fill, here
from trackers.tweets.archive.lease import rename_installation

pytestmark = pytest.mark.django_db


def run(*words):
    out = io.StringIO()
    call_command("archive", *words, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_months_are_moved_and_adopted(tmp_path, settings):
    settings.ARCHIVE = str(tmp_path)
    fill()
    assert run("write") == {"samples": 60, "files": 3}
    assert here() == 0
    rename_installation()
    with pytest.raises(CommandError, match="archive adopt"):
        run("write")
    assert run("adopt") == {"samples": 0, "files": 0}
    assert run("write") == {"samples": 0, "files": 0}


@pytest.mark.parametrize(
    "manifest",
    ["", "{", "[]", "{}", '{"month": 1, "files": []}', '{"month": "2024-11", "files": [{}]}',
     '{"month": "2024-11", "files": [{"path": "../x-1.parquet", "sha256": "", "samples": 1}]}'],
)  # fmt: skip
def test_adopt_names_a_broken_manifest_and_changes_nothing(tmp_path, settings, manifest):
    settings.ARCHIVE = str(tmp_path)
    fill()
    run("write")
    rename_installation()
    (tmp_path / "manifests/2024-11.json").write_text(manifest)
    with pytest.raises(CommandError, match=r"2024-11\.json in .* is no manifest"):
        run("adopt")
    with pytest.raises(CommandError, match="archive adopt"):
        run("write")


def test_export_says_what_is_in_the_archive(tmp_path, settings, capfdbinary):
    settings.ARCHIVE = str(tmp_path)
    fill()
    run("write")
    said = io.StringIO()
    call_command("export", "samples", stderr=said)
    assert said.getvalue() == (
        "60 samples of all tweets are in the archive, and not in this export: its Parquet files "
        "have them.\n"
    )


def test_check_finds_what_is_missing_damaged_or_too_much(tmp_path, settings):
    settings.ARCHIVE = str(tmp_path)
    fill()
    run("write")
    assert run("check") == {"files": 6, "faults": []}

    november, december, january = sorted(tmp_path.glob("samples/*/*.parquet"))
    december.with_name("part-0009.parquet").write_bytes(november.read_bytes())
    december.write_bytes(january.read_bytes())
    november.unlink()
    january.write_bytes(january.read_bytes()[:-9])
    (tmp_path / "manifests/2024-12.json").write_text("{}")
    out = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("archive", "check", stdout=out)

    *faults, summary = out.getvalue().splitlines()
    assert [line.partition(": ")[2].split(".")[0] for line in faults][:2] == [
        "It is missing",
        "It is not what was written",
    ]
    assert "2025-01/part-0001.parquet: It cannot be read" in faults[2]
    assert faults[3] == "manifests/2024-12.json: It does not say what counts."
    assert "month=2024-12/part-0009.parquet: It does not count" in faults[4]
    assert summary == "7 files read, 5 with a fault."


def test_without_directory_or_with_recent_months_nothing_moves(tmp_path, settings):
    settings.ARCHIVE = ""
    with pytest.raises(CommandError, match="Set ARCHIVE"):
        run("write")
    settings.ARCHIVE = str(tmp_path)
    with pytest.raises(CommandError, match="at least 2 months"):
        run("write", "--older-than", "1")
