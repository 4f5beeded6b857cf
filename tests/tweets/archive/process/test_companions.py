"""Facts and checkpoints beside the samples of a month: each tweet once, and as it is here."""

import json
from dataclasses import fields
from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone

from tests.factories import TweetFactory
from tests.tweets.archive.companions import (
    JANUARY,
    copied,
    facts_in,
    fill_checkpoints_of,
    posted_in_january,
    tracked_with_facts,
)
from tests.tweets.archive.outside import files_in, put_file, remove_file
from tests.tweets.archive.samples import (
    LATER,
    append,
    archive,
    as_others_read,
    fill,
    here,
    on_both,
)
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.schedule.tweet_changes import untrack_tweets
from trackers.tweets.archive.adopt import adopt
from trackers.tweets.archive.check import check_files
from trackers.tweets.archive.erase import erase
from trackers.tweets.archive.lease import rename_installation
from trackers.tweets.archive.models import ArchiveFile, ArchiveMonth, CompanionFile, ErasedTweet
from trackers.tweets.models import Author, PackedSamples, Tweet, TweetText
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

pytestmark = [pytest.mark.django_db(transaction=True), on_both]
HOUR = timedelta(hours=1)


def test_facts_are_what_is_known_with_the_newest_sample(store):
    [measured] = fill(tweets=1, months=[JANUARY])
    Author.objects.create(id=7, username="nasa", name="NASA")
    source = Source.objects.create(kind="account", of="11348282", username="nasa")
    SourceTweet.objects.create(source=source, tweet_id=measured, seen_at=timezone.now())
    posted = datetime(2022, 3, 5, 7, 0, 43, tzinfo=UTC)
    newest = datetime(2025, 6, 1, 2, 3, 4, 5, tzinfo=UTC)
    TweetFactory(
        id=measured, author_id=7, created_at=posted, came_from="@nasa's posts",
        missing_reason="protected", taken_at=newest, measured_until=newest + HOUR,
        measurements=3, likes=5, views=10**10,
    )  # fmt: skip
    TweetText.objects.create(tweet_id=measured, text="secret words", lang="en", kind=4)
    # Nothing else is known of these. The first rested in that month, the others before and after.
    january = datetime(2025, 1, 20, tzinfo=UTC)
    for id, since in ((11, january), (12, january - 30 * 24 * HOUR), (13, newest)):
        TweetFactory(id=id, taken_at=since, measured_until=since, measurements=1, likes=id)
    Tweet.objects.filter(id=12).update(measured_until=january - 25 * 24 * HOUR)

    archive(store)

    resting, known = facts_in(store)
    assert known.pop("written_at") <= timezone.now()
    assert known == {
        "id": measured, "author_id": 7, "username": "nasa", "name": "NASA", "posted_at": posted,
        "language": "en", "kind": "photo", "came_from": "@nasa's posts",
        "sources": ["account nasa"], "state": "protected", "taken_at": newest,
        "lasted_us": 3_600_000_000, "measurements": 3, "retweets": None, "replies": None,
        "likes": 5, "quotes": None, "bookmarks": None, "views": 10**10,
    }  # fmt: skip
    assert (resting["id"], resting["taken_at"], resting["likes"]) == (11, january, 11)
    assert resting["posted_at"] is resting["username"] is resting["kind"] is None
    assert (resting["state"], resting["sources"]) == ("unasked", [])
    assert not any(b"secret words" in data for data in files_in(store).values())


def test_tweet_that_was_measured_late_comes_with_its_samples(store):
    ids = tracked_with_facts(fill(tweets=3, months=[JANUARY]))
    PackedSamples.objects.filter(tweet_id=ids[2]).delete()
    archive(store)
    fill(tweets=3, months=[JANUARY], each=2)
    append(ids[0], JANUARY)

    assert archive(store).samples == 7

    assert [row["id"] for row in facts_in(store)] == ids
    assert CompanionFile.objects.count() == 2
    assert [fault for _, fault in check_files(store) if fault] == []


def test_checkpoints_are_copied_by_the_month_in_which_a_tweet_was_posted(store):
    ids = posted_in_january(3)
    fill(months=[JANUARY])
    fill_checkpoints_of(ids)
    december = posted_in_january(1, at=datetime(2024, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC))
    fill_checkpoints_of(december)
    with cursor() as db:
        db.execute(
            "INSERT INTO trackers_checkpoint (tweet_id, age, crossed_at, likes)"
            " VALUES (%(id)s, 18, now(), 99)",
            {"id": ids[0]},
        )

    archive(store)

    rows = copied(store)
    assert {row["id"] for row in rows} == set(ids)
    assert [(row["age_seconds"], row["likes"]) for row in rows if row["id"] == ids[0]] == [
        (300, 1), (600, 2), (3600, 5), (2_592_000, 99),
    ]  # fmt: skip
    assert rows[0]["quotes"] is None
    [(left,)] = _counted("SELECT count(*) FROM trackers_packedcheckpoints")
    assert left == 4


def _counted(query):
    with cursor() as db:
        return db.execute(query).fetchall()


def test_manifest_and_check_know_them(store):
    tracked_with_facts(fill(months=[JANUARY]))
    fill_checkpoints_of(posted_in_january(2))
    archive(store)

    manifest = json.loads(store.read("manifests/2025-01.json"))
    [facts], [checkpoints] = manifest["facts"], manifest["checkpoints"]
    assert (facts["rows"], facts["tweets"], checkpoints["rows"]) == (5, 5, 6)
    assert facts["columns"]["likes"]["sum"] == sum(row["likes"] for row in facts_in(store))
    assert [fault for _, fault in check_files(store) if fault] == []

    path = checkpoints["path"]
    further = f"{path.rpartition('/')[0]}/part-0099.parquet"
    put_file(store, further, files_in(store)[path])
    remove_file(store, facts["path"])
    assert dict(check_files(store))[facts["path"]] == "It is missing."
    [fault] = [fault for path, fault in check_files(store) if path.endswith("part-0099.parquet")]
    assert fault.startswith("It does not count")


def test_untracked_tweets_leave_them(store):
    ids = tracked_with_facts(fill(months=[JANUARY]))
    posted = posted_in_january(2)
    fill_checkpoints_of(posted)
    archive(store)
    untrack_tweets([ids[1], posted[0]])
    before = facts_in(store)

    assert erase(store, now=timezone.now() + HOUR, deadline=LATER) == 3

    assert facts_in(store) == [row for row in before if row["id"] != ids[1]]
    assert {row["id"] for row in copied(store)} == {posted[1]}
    assert not ErasedTweet.objects.exists()
    assert [fault for _, fault in check_files(store) if fault] == []


def test_tweet_that_is_untracked_while_its_facts_are_written_leaves_them(store):
    ids = tracked_with_facts(fill(months=[JANUARY]))

    class Slow(type(store)):
        def open(self, path):
            if path.startswith("facts"):
                untrack_tweets(ids[:1])
            return super().open(path)

    archive(Slow(*(getattr(store, field.name) for field in fields(store))))

    assert [row.tweet_id for row in ErasedTweet.objects.all()] == ids[:1]
    erase(store, now=timezone.now() + HOUR, deadline=LATER)
    assert [row["id"] for row in facts_in(store)] == ids[1:]
    assert {row[0] for row in as_others_read(store)} == set(ids[1:])


def test_restored_database_goes_on_with_them(store):
    ids = tracked_with_facts(fill(months=[JANUARY]))
    fill_checkpoints_of(posted_in_january(2))
    archive(store)
    before = facts_in(store), copied(store)
    for model in (ArchiveFile, CompanionFile, ArchiveMonth):
        model.objects.all().delete()
    fill(months=[JANUARY])
    append(ids[0], JANUARY)
    rename_installation()

    assert (adopt(store).files, here()) == (3, 5)
    archive(store)

    assert (facts_in(store), copied(store)) == before
    assert [fault for _, fault in check_files(store) if fault] == []


def test_many_tweets_come_in_pieces(store):
    """Time is up after each: a file for each piece of ids, of which some have nothing."""
    with cursor() as db:
        db.execute(
            "INSERT INTO trackers_tweet (id, tracked_at, came_from, paused, missing_reason,"
            " taken_at, measured_until, measurements, likes)"
            " SELECT 10 + n, now(), '', false, '', at, at, 1, n FROM generate_series(1, 50000) n,"
            " LATERAL (SELECT CASE WHEN n > 20000 THEN timestamptz '2025-01-09'"
            "          ELSE '2023-01-01' END) AS measured(at)"
        )
    fill(months=[JANUARY])
    runs = []
    while not runs or not runs[-1].is_done:
        runs.append(archive(store, deadline=Deadline.after(0)))

    assert [file.samples for file in CompanionFile.objects.order_by("path")] == [20_000, 10_000]
    assert [row["id"] for row in facts_in(store)] == list(range(20_011, 50_011))
    month = ArchiveMonth.objects.get(month=date(2025, 1, 1))
    assert month.facts_up_to == month.checkpoints_up_to == 2**63 - 1
    assert here() == 0
