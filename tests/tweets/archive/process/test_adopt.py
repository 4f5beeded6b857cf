"""After a restore: what was archived since the backup is known again, and nothing is twice."""

import pytest

from tests.tweets.archive.samples import (
    MONTHS,
    append,
    archive,
    as_others_read,
    fill,
    here,
    histories_of,
)
from trackers.tweets.archive.adopt import adopt
from trackers.tweets.archive.lease import ArchiveError, rename_installation
from trackers.tweets.archive.models import ArchiveFile, ArchiveMonth

pytestmark = pytest.mark.django_db(transaction=True)


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
    assert len(as_others_read(store.root)) == len(everything) + 1


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
    path = store.root / "samples/month=2025-01/part-0001.parquet"
    path.write_bytes((store.root / "samples/month=2024-12/part-0001.parquet").read_bytes())

    with pytest.raises(ArchiveError, match="not what its manifest says"):
        adopt(store)
    with pytest.raises(ArchiveError, match="belongs to another installation"):
        archive(store)
    assert here() == 20
