"""Old months become files, and every reading of a tweet stays what it was."""

import hashlib
import json
from dataclasses import fields
from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone

from tests.factories import TweetFactory
from tests.tweets.archive.outside import put_file, remove_file
from tests.tweets.archive.samples import (
    BEFORE,
    FIRST,
    MONTHS,
    append,
    archive,
    as_others_read,
    counted,
    fill,
    here,
    histories_of,
    on_both,
)
from trackers import tasks
from trackers.schedule.tweet_changes import untrack_tweets
from trackers.tweets.archive import read
from trackers.tweets.archive.lease import ArchiveError, rename_installation
from trackers.tweets.archive.models import ArchiveFile, ErasedTweet, Installation
from trackers.tweets.history import RunRange, history
from trackers.tweets.models import PackedSamples
from tweetwatch.pieces import Deadline

pytestmark = [pytest.mark.django_db(transaction=True), on_both]
JANUARY = MONTHS[2]


def test_history_is_the_same_from_files(store):
    ids = fill()
    append(ids[2], MONTHS[1])
    expected = histories_of(ids)
    some = RunRange(
        since=datetime(2024, 11, 20, tzinfo=UTC), until=datetime(2025, 1, 9, tzinfo=UTC)
    )
    within = history(ids[1], some)
    first_ten = history(ids[1], RunRange(after=within[0].taken_at), most=3)

    archived = archive(store)

    assert (archived.samples, archived.files, here()) == (61, 3, 0)
    assert histories_of(ids) == expected
    assert history(ids[1], some) == within
    assert history(ids[1], RunRange(after=within[0].taken_at), most=3) == first_ten
    assert history(FIRST) == history(ids[2] + 1) == []
    everything = sorted(tuple(run) for runs in expected.values() for run in runs)
    assert as_others_read(store) == everything


def test_only_months_that_are_old_enough_go(store):
    ids = fill()
    archive(store, before=JANUARY)
    assert {row.month for row in PackedSamples.objects.all()} == {JANUARY}
    assert [len(runs) for runs in histories_of(ids).values()] == [12] * 5


def test_several_row_groups_and_files(store):
    """More than a file's group; and time is up after each, so that each gets a file."""
    ids = fill(tweets=50, each=2_000, months=[JANUARY])
    expected = histories_of(ids[::7])

    whole = archive(store)
    assert (whole.samples, whole.files) == (100_000, 1)
    [file] = ArchiveFile.objects.all()
    assert len(file.first_ids) == 3
    assert histories_of(ids[::7]) == expected

    ids = fill(tweets=50, each=2_000, months=[MONTHS[0]])
    runs = []
    while not runs or not runs[-1].is_done:
        runs.append(archive(store, deadline=Deadline.after(0)))
    assert [run.samples for run in runs] == [40_000, 40_000, 20_000, 0]
    assert counted() == 200_000


def test_late_samples_go_into_a_further_file(store):
    ids = fill()
    archive(store)
    fill(tweets=1, each=1, months=[JANUARY])
    append(ids[0], JANUARY)
    expected = history(ids[0])

    archive(store)

    assert history(ids[0]) == expected
    assert [str(file) for file in ArchiveFile.objects.filter(month=JANUARY)] == [
        "samples/month=2025-01/part-0001.parquet",
        "samples/month=2025-01/part-0002.parquet",
    ]


def test_row_that_grows_stays(store):
    ids = fill(tweets=1)

    class Slow(type(store)):
        """Meanwhile a sample of the month is packed."""

        def open(self, path):
            append(ids[0], MONTHS[0])
            return super().open(path)

    expected = history(ids[0])
    slow = Slow(*(getattr(store, field.name) for field in fields(store)))
    with pytest.raises(ArchiveError, match="added or deleted meanwhile"):
        archive(slow)
    assert (here(), counted()) == (len(expected) + 1, 0)

    archive(store)
    assert len(as_others_read(store)) == len(expected) + 1
    assert not history(ids[0]).lacking


def test_manifest_has_counts_sums_and_digests(store):
    ids = fill()
    expected = histories_of(ids)
    archive(store)

    manifest = json.loads(store.read("manifests/2025-01.json"))

    [file] = manifest["files"]
    assert manifest["installation"] == json.loads(store.read("archive.json"))["installation"]
    assert file["sha256"] == hashlib.sha256(store.read(file["path"])).hexdigest()
    assert (file["first_id"], file["last_id"]) == (str(ids[0]), str(ids[-1]))
    assert manifest["samples"] == file["samples"] == 20
    runs = [run for of in expected.values() for run in of if run.measured_until.month == 1]
    likes = sum(run.likes for run in runs)
    assert file["columns"]["likes"] == {"sum": likes, "unknown": 0}
    assert file["columns"]["quotes"] == {"sum": 0, "unknown": 20}
    lasted = sum((run.measured_until - run.taken_at for run in runs), timedelta())
    assert file["columns"]["lasted_us"]["sum"] == lasted // timedelta(microseconds=1)


def test_another_installation_reads_and_does_not_write(store):
    ids = fill()
    archive(store)
    expected = histories_of(ids)
    fill(months=[date(2024, 5, 1)])

    # As after a restore elsewhere.
    rename_installation()

    with pytest.raises(ArchiveError, match="belongs to another installation"):
        archive(store)
    assert here() == 20
    assert all(history(id)[4:] == runs for id, runs in expected.items())


def test_one_process_writes_at_a_time(store):
    fill()
    archive(store, before=MONTHS[0])
    Installation.objects.update(
        writer="00000000-0000-0000-0000-000000000001", writes_until="2999-01-01T00:00Z"
    )
    assert archive(store).is_elsewhere
    assert here() == 60


def test_missing_samples_are_said(store, settings):
    ids = fill()
    fill(months=[date(2025, 3, 1)])
    archive(store)

    remove_file(store, "samples/month=2024-12/part-0001.parquet")
    first = history(ids[0])
    assert len(first) == 12
    assert first.lacking.startswith("Samples of 2024-12 are missing: they are in the archive")
    assert "No such file" in first.lacking

    # Away: nothing of it is opened for a while.
    second = history(ids[0])
    assert len(second) == 4
    assert second.lacking.startswith("Samples of 2024-11 to 2025-01 are missing")

    read.absence.until = 0.0
    settings.ARCHIVE = ""
    assert "ARCHIVE is not set" in history(ids[0]).lacking
    assert not history(ids[0], RunRange(since=datetime(2025, 3, 1, tzinfo=UTC))).lacking


def test_damaged_file_is_said(store):
    ids = fill()
    archive(store)
    put_file(store, "samples/month=2024-12/part-0001.parquet", b"PAR1" + b"\0" * 500 + b"PAR1")
    assert "2024-12" in history(ids[0]).lacking


def test_untracked_tweet_is_left_out_at_once(store):
    ids = fill()
    archive(store)
    for id in (ids[0], 7):
        TweetFactory(id=id)

    untrack_tweets([ids[0], 7])

    assert history(ids[0]) == []
    assert len(history(ids[1])) == 12
    assert [row.tweet_id for row in ErasedTweet.objects.all()] == [ids[0]]


def test_periodic_task_archives_and_retention_waits(store, settings):
    fill()
    this_month = timezone.now().date().replace(day=1)
    fill(tweets=1, months=[this_month])
    settings.SAMPLE_RETENTION_DAYS = 30

    tasks.retire_samples()
    assert here() == 64
    tasks.archive_samples()
    assert (here(), counted()) == (4, 60)
    assert this_month > BEFORE
