"""Late parts of a month become one, with all that they had."""

import json
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from django.utils import timezone

from tests.factories import TweetFactory
from tests.tweets.archive.companions import JANUARY, facts_in
from tests.tweets.archive.process.test_kills import (  # noqa: F401 - a fixture
    TOO_MANY,
    clear,
    killer,
    let_lease_run_out,
)
from tests.tweets.archive.samples import (
    LATER,
    archive,
    as_others_read,
    fill,
    here,
    histories_of,
    on_both,
)
from trackers.tweets.archive.check import check_files
from trackers.tweets.archive.erase import erase, note_erased
from trackers.tweets.archive.models import ArchiveFile, CompanionFile
from trackers.tweets.models import METRICS, PackedSamples

pytestmark = pytest.mark.django_db(transaction=True)


def pack_late(id, day):
    at = datetime(2025, 1, day, 5, 6, 7, 8, tzinfo=UTC)
    counts = {metric: [day if metric == "likes" else None] for metric in METRICS}
    PackedSamples.objects.create(
        tweet_id=id, month=JANUARY, taken_at=[at], measured_until=[at], measurements=[1], **counts
    )


def in_parts(store, ids, parts=8):
    for day in range(2, parts + 1):
        pack_late(ids[day % len(ids)], day)
        archive(store)


@on_both
def test_more_than_eight_parts_become_one(store):
    ids = fill(tweets=30, each=2_000, months=[JANUARY])
    archive(store)
    in_parts(store, ids)
    assert ArchiveFile.objects.count() == 8
    pack_late(ids[-1], 20)
    expected, rows = histories_of(ids[::5] + ids[-1:]), as_others_read(store)

    archive(store)

    [file] = ArchiveFile.objects.all()
    assert (file.samples, file.tweets, len(file.first_ids)) == (60_008, 30, 2)
    assert file.last_ids[0] < file.first_ids[1]
    assert histories_of(expected) == expected
    assert {tuple(row) for row in rows} < {tuple(row) for row in as_others_read(store)}
    assert len(as_others_read(store)) == 60_008
    manifest = json.loads(store.read("manifests/2025-01.json"))
    assert [one["path"] for one in manifest["files"]] == [file.path]
    assert [fault for _, fault in check_files(store) if fault] == []


@on_both
def test_facts_are_merged_too(store):
    ids = fill(tweets=9, months=[JANUARY])
    for id in ids:
        TweetFactory(id=id, came_from="search: x")
    PackedSamples.objects.exclude(tweet_id=ids[0]).delete()
    archive(store)
    for day, id in enumerate(ids[1:], 2):
        pack_late(id, day)
        archive(store)

    [file] = CompanionFile.objects.all()
    assert file.samples == 9
    assert [row["id"] for row in facts_in(store)] == ids
    assert [fault for _, fault in check_files(store) if fault] == []


@on_both
def test_tweet_that_was_removed_before_leaves_what_is_merged(store):
    ids = fill(tweets=3, months=[JANUARY])
    archive(store)
    in_parts(store, ids)
    assert note_erased(ids[:1]) == 1
    pack_late(ids[1], 20)
    archive(store)

    assert erase(store, now=timezone.now() + timedelta(hours=1), deadline=LATER) == 1
    assert {row[0] for row in as_others_read(store)} == set(ids[1:])


@pytest.mark.more
@pytest.mark.timeout(600)
@pytest.mark.parametrize("store", ["directory"], indirect=True)
def test_killed_at_each_step_of_merging_nothing_is_lost_or_there_twice(store, killer):  # noqa: F811
    for step in count(1):
        ids = fill(tweets=3, months=[JANUARY])
        archive(store)
        in_parts(store, ids)
        pack_late(ids[0], 20)
        expected = histories_of(ids)
        everything = sorted(tuple(run) for runs in expected.values() for run in runs)

        ended = killer(step)

        assert histories_of(ids) == expected, f"step {step}"
        if ended == "exit 0":
            break
        assert step < TOO_MANY
        let_lease_run_out()
        assert killer(0) == "exit 0"
        assert (here(), ArchiveFile.objects.count()) == (0, 1), f"step {step}"
        assert as_others_read(store) == everything, f"step {step}"
        assert [fault for _, fault in check_files(store) if fault] == [], f"step {step}"
        clear(store)
