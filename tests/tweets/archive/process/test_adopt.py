"""After a restore: what was archived since the backup is known again, and nothing is twice."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from tests.factories import TweetFactory
from tests.tweets.archive.outside import files_in, put_file
from tests.tweets.archive.samples import (
    LATER,
    MONTHS,
    append,
    archive,
    as_others_read,
    fill,
    here,
    histories_of,
    on_both,
)
from trackers.schedule.tweet_changes import untrack_tweets
from trackers.tweets.archive.adopt import adopt
from trackers.tweets.archive.check import check_files
from trackers.tweets.archive.erase import erase, note_erased
from trackers.tweets.archive.lease import ArchiveError, rename_installation
from trackers.tweets.archive.models import ArchiveFile, ArchiveMonth, ErasedTweet, Installation
from trackers.tweets.archive.receipts import removed_elsewhere

pytestmark = [pytest.mark.django_db(transaction=True), on_both]


def restored_from_before(month):
    """As a backup of when this month was not archived yet."""
    ArchiveFile.objects.filter(month__gte=month).delete()
    ArchiveMonth.objects.filter(month__gte=month).delete()
    fill(months=[one for one in MONTHS if one >= month])
    rename_installation()


def test_months_archived_after_the_backup_are_adopted(store):
    ids = fill()
    expected = histories_of(ids)
    everything = sorted(tuple(run) for runs in expected.values() for run in runs)
    archive(store)
    restored_from_before(MONTHS[1])
    assert here() == 40
    assert histories_of(ids) == expected

    adopted = adopt(store)

    assert (adopted.files, adopted.samples, here()) == (2, 40, 0)
    assert histories_of(ids) == expected
    fill(tweets=1, months=MONTHS[1:2], each=1)
    assert archive(store).samples == 1
    [newest] = ArchiveFile.objects.filter(month=MONTHS[1]).order_by("-path")[:1]
    assert newest.path.endswith("part-0002.parquet")
    assert len(as_others_read(store)) == len(everything) + 1


def test_rows_that_differ_stay(store):
    ids = fill()
    archive(store)
    restored_from_before(MONTHS[2])
    append(ids[0], MONTHS[2])
    expected = histories_of(ids)

    adopt(store)

    assert here() == 5
    assert histories_of(ids) == expected


def test_damaged_file_is_not_adopted(store):
    fill()
    archive(store)
    restored_from_before(MONTHS[2])
    other = files_in(store)["samples/month=2024-12/part-0001.parquet"]
    put_file(store, "samples/month=2025-01/part-0001.parquet", other)

    with pytest.raises(ArchiveError, match="not what its manifest says"):
        adopt(store)
    with pytest.raises(ArchiveError, match="belongs to another installation"):
        archive(store)
    assert here() == 20


def removed_and_restored(store, id):
    """A tweet leaves the archive, and the database of before is restored."""
    TweetFactory(id=id, tracked_at=datetime(2024, 1, 1, tzinfo=UTC))
    files, months = list(ArchiveFile.objects.all()), list(ArchiveMonth.objects.all())
    before = {file.path: store.read(file.path) for file in files}
    untrack_tweets([id])
    assert erase(store, now=timezone.now() + timedelta(hours=1), deadline=LATER)
    ArchiveFile.objects.all().delete()
    ArchiveMonth.objects.all().delete()
    ArchiveMonth.objects.bulk_create(months)
    ArchiveFile.objects.bulk_create(files)
    rename_installation()
    return before


def test_removed_tweet_is_known_again_by_its_receipt(store):
    ids = fill()
    archive(store)
    removed_and_restored(store, ids[1])
    name = Installation.objects.get().formerly[0]

    tweet = TweetFactory(id=ids[1], tracked_at=datetime(2024, 1, 1, tzinfo=UTC))
    TweetFactory(id=ids[2], tracked_at=datetime(2024, 1, 1, tzinfo=UTC))
    assert list(removed_elsewhere(store)) == [ids[1]]

    # Of the same ancestor, whatever it was called in between.
    rename_installation()
    assert list(removed_elsewhere(store)) == [ids[1]]
    tweet.tracked_at = timezone.now()
    tweet.save()
    assert list(removed_elsewhere(store)) == []
    tweet.tracked_at = datetime(2024, 1, 1, tzinfo=UTC)
    tweet.save()
    Installation.objects.update(formerly=[])
    assert list(removed_elsewhere(store)) == []
    assert name != Installation.objects.get().known_as


@pytest.mark.parametrize("receipt", ["", "[]", '{"installations": [], "removed": {}}'])
def test_damaged_receipt_is_named(store, receipt):
    ids = fill()
    archive(store)
    TweetFactory(id=ids[0])
    with store.writing("receipts/20260101T000000000000Z.json") as file:
        file.write(receipt.encode())
    with pytest.raises(ArchiveError, match="is no receipt"):
        list(removed_elsewhere(store))


def test_files_replaced_since_the_backup_no_longer_count(store):
    ids = fill()
    archive(store)
    kept = histories_of(ids[:1] + ids[2:])
    before = removed_and_restored(store, ids[1])
    # As of a process that died before it removed them.
    for path, data in before.items():
        with store.writing(path) as file:
            file.write(data)

    assert adopt(store).files == 3

    assert histories_of(kept) == kept
    runs = sorted(tuple(run) for of in kept.values() for run in of)
    assert as_others_read(store) == runs
    assert [fault for _, fault in check_files(store) if fault] == []


def test_file_that_was_being_written_during_the_backup_is_adopted(store):
    ids = fill()
    expected = histories_of(ids)
    archive(store)
    # Its rows are in the backup.
    fill(months=MONTHS[2:])
    ArchiveFile.objects.filter(month=MONTHS[2]).update(state="writing", ids=None, sha256="")
    rename_installation()

    assert (adopt(store).files, here()) == (1, 0)
    assert histories_of(ids) == expected


def test_tweet_that_is_erased_before_files_are_adopted_leaves_them_too(store):
    ids = fill()
    archive(store)
    restored_from_before(MONTHS[1])
    assert note_erased(ids[:1]) == 1

    adopt(store)

    assert erase(store, now=timezone.now() + timedelta(hours=1), deadline=LATER) == 3
    assert {row[0] for row in as_others_read(store)} == set(ids[1:])
    assert not ErasedTweet.objects.exists()
