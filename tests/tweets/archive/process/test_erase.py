"""Untracked tweets leave the files of the archive, and nothing else does."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import TweetFactory
from tests.tweets.archive.outside import files_in
from tests.tweets.archive.samples import (
    LATER,
    MONTHS,
    archive,
    as_others_read,
    counted,
    fill,
    histories_of,
    on_both,
)
from trackers.schedule.tweet_changes import untrack_tweets
from trackers.tweets.archive.erase import erase, note_erased
from trackers.tweets.archive.models import ArchiveFile, ErasedTweet, Installation
from trackers.tweets.archive.receipts import digest_of
from trackers.tweets.history import history
from tweetwatch.pieces import Deadline

pytestmark = [pytest.mark.django_db(transaction=True), on_both]
HOUR = timedelta(hours=1)


def untracked(*ids):
    for id in ids:
        TweetFactory(id=id)
    untrack_tweets(ids)


def test_files_lose_untracked_tweets_and_nothing_else(store):
    ids = fill()
    archive(store)
    kept = histories_of(ids[2:])
    untracked(*ids[:2])
    noted = {row.tweet_id: row.at for row in ErasedTweet.objects.all()}
    now = timezone.now()

    # The transaction of another one may not have ended yet.
    assert erase(store, now=now, deadline=LATER) == 0
    assert len(as_others_read(store)) == 60
    assert erase(store, now=now + HOUR, deadline=LATER) == 3

    runs = sorted(tuple(run) for of in kept.values() for run in of)
    assert as_others_read(store) == runs
    assert (counted(), histories_of(ids[2:])) == (36, kept)
    assert history(ids[0]) == []
    assert not ErasedTweet.objects.exists()
    assert ArchiveFile.objects.count() == len(MONTHS)
    manifest = json.loads(store.read("manifests/2025-01.json"))
    assert [file["path"] for file in manifest["files"]] == [
        "samples/month=2025-01/part-0002.parquet"
    ]
    [receipt] = receipts_in(store)
    name = str(Installation.objects.get())
    assert (receipt["tweets"], receipt["installations"]) == (2, [name])
    assert receipt["removed"] == {
        digest_of(id, name): at.isoformat() for id, at in sorted(noted.items())
    }
    assert not any(str(id) in json.dumps(receipt) for id in ids)


def receipts_in(store):
    files = sorted(files_in(store).items())
    return [json.loads(data) for path, data in files if path.startswith("receipts/")]


def test_files_without_the_tweet_stay_as_they_are(store):
    """Ids of nearly all files begin before one and end after it."""
    ids = fill()
    archive(store)
    paths = set(ArchiveFile.objects.values_list("path", flat=True))
    now = timezone.now() + HOUR
    assert note_erased([ids[1] + 7, ids[-1] + 1]) == 1

    assert erase(store, now=now, deadline=LATER) == 0
    assert set(ArchiveFile.objects.values_list("path", flat=True)) == paths
    assert [receipt["tweets"] for receipt in receipts_in(store)] == [1]
    assert not ErasedTweet.objects.exists()


def test_interrupted_erasing_goes_on(store):
    ids = fill()
    archive(store)
    untracked(ids[0])
    now = timezone.now() + HOUR

    ended = [erase(store, now=now, deadline=Deadline.after(0)) for _ in MONTHS]

    # A file in each run; the last one has none left.
    assert ended == [None, None, 1]
    assert len(as_others_read(store)) == 48
    assert erase(store, now=now, deadline=LATER) == 0


def test_file_without_any_tweet_left_goes(store):
    ids = fill(tweets=1)
    archive(store)
    untracked(ids[0])
    assert erase(store, now=timezone.now() + HOUR, deadline=LATER) == 3
    assert as_others_read(store) == []
    assert not ArchiveFile.objects.exists()
    assert json.loads(store.read("manifests/2025-01.json"))["files"] == []
