"""`manage.py archive`: what it says, and what it refuses."""

import io
import json
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.utils import timezone

from tests.factories import TweetFactory
from tests.tweets.archive.conftest import bucket, service, store  # noqa: F401 - fixtures
from tests.tweets.archive.outside import files_in, put_file, remove_file
from tests.tweets.archive.samples import LATER, fill, here, on_both
from trackers.schedule.tweet_changes import untrack_tweets
from trackers.tweets.archive.erase import erase
from trackers.tweets.archive.lease import rename_installation
from trackers.tweets.archive.models import ErasedTweet
from trackers.tweets.archive.store import Directory
from trackers.tweets.models import PackedSamples, Tweet

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
    assert run("adopt") == {"samples": 0, "files": 0, "untracked": 0}
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


def test_export_has_archived_samples_or_ends_with_a_sentence(tmp_path, settings, capfdbinary):
    settings.ARCHIVE = str(tmp_path)
    for id in fill():
        TweetFactory(id=id)
    run("write")
    said = io.StringIO()

    call_command("export", "samples", stderr=said)

    assert (len(capfdbinary.readouterr().out.splitlines()), said.getvalue()) == (60, "")
    settings.ARCHIVE = ""
    with pytest.raises(CommandError, match=r"not complete\. Samples of 2024-11 to 2025-01"):
        call_command("export", "samples", "--format", "csv")
    assert capfdbinary.readouterr().out == b""


@on_both
def test_check_finds_what_is_missing_damaged_or_too_much(store):  # noqa: F811
    fill()
    run("write")
    assert run("check") == {"files": 6, "faults": [], "keeps_versions": False}

    files = files_in(store)
    november, december, january = sorted(path for path in files if path.startswith("samples/"))
    put_file(store, december.replace("0001", "0009"), files[november])
    put_file(store, december, files[january])
    remove_file(store, november)
    put_file(store, january, files[january][:-9])
    put_file(store, "manifests/2024-12.json", b"{}")
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


def test_erase_takes_what_is_not_tracked(tmp_path, settings):
    settings.ARCHIVE = str(tmp_path)
    ids = fill()
    assert run("erase", str(ids[0])) == {"tweets": 1, "archived": 0}
    run("write")
    TweetFactory(id=ids[0])
    with pytest.raises(CommandError, match=rf"1 tweet of these, such as {ids[0]}, are still"):
        run("erase", *map(str, ids))
    assert not ErasedTweet.objects.exists()

    (tmp_path / "ids.txt").write_text(f"{ids[1]}\n{ids[2]}\n7\n")
    address = f"https://x.com/a/status/{ids[1]}"
    assert run("erase", address, str(tmp_path / "ids.txt")) == {"tweets": 3, "archived": 2}

    assert {row.tweet_id for row in ErasedTweet.objects.all()} == set(ids[1:3])
    [entry] = LogEntry.objects.all()
    assert entry.object_repr == "2 tweets"
    assert entry.change_message.startswith("Erased from the archive, by manage.py")


def test_adopt_untracks_what_was_removed_after_the_backup(tmp_path, settings):
    settings.ARCHIVE = str(tmp_path)
    ids = fill()
    long_ago = datetime(2024, 1, 1, tzinfo=UTC)
    TweetFactory(id=ids[3], tracked_at=long_ago)
    run("write")
    untrack_tweets(ids[3:4])
    later = timezone.now() + timedelta(hours=1)
    assert erase(Directory(tmp_path), now=later, deadline=LATER) == 6

    # The backup was of before.
    TweetFactory(id=ids[3], tracked_at=long_ago)
    fill(tweets=4)
    rename_installation()

    assert run("adopt")["untracked"] == 1
    assert not Tweet.objects.filter(pk=ids[3]).exists()
    assert not PackedSamples.objects.filter(tweet_id=ids[3]).exists()
