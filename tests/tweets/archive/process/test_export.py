"""Exports of samples have what they had before some of them were archived."""

import csv
import io
import json
import tracemalloc
from datetime import UTC, datetime, timedelta

import pyarrow
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pyarrow import parquet

from tests.factories import TweetFactory, figures
from tests.tweets.archive.samples import LATER, MONTHS, append, archive, counted, fill, on_both
from trackers.schedule.tweet_changes import untrack_tweets
from trackers.tweets import export
from trackers.tweets.archive.erase import erase
from trackers.tweets.archive.models import ArchiveFile
from trackers.tweets.archive.read import ArchiveAway
from trackers.tweets.export import export_samples
from trackers.tweets.models import METRICS
from trackers.tweets.pack import SAMPLES
from trackers.tweets.record import Measured, record

pytestmark = pytest.mark.django_db(transaction=True)
NOW = datetime(2026, 3, 1, 1, 30, tzinfo=UTC)
FORMATS = ("jsonl", "csv")


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    monkeypatch.setattr(export, "TWEETS_AT_ONCE", 2)


def tracked(**how):
    """Tweets with packed samples of long ago, one in a row, and one of their own."""
    ids = fill(**how)
    SAMPLES.make_ahead(now=NOW)
    for id in ids:
        TweetFactory(id=id)
        for hours in range(2):
            at = NOW + timedelta(hours=hours, microseconds=hours)
            record([Measured(id, at, figures(hours, quotes=None), timedelta(days=1))])
    return ids


def file_of(month):
    return ArchiveFile.objects.get(month=month).path


def exported(ids=(), format="jsonl"):
    return b"".join(export_samples(list(ids), format=format))


def in_order(lines):
    """The lines of all tweets, as one with ids has them."""
    return sorted(
        lines.splitlines(), key=lambda line: (json.loads(line)["tweet_id"], line.split(b'"')[7])
    )


@on_both
@pytest.mark.parametrize("format", FORMATS)
def test_export_is_letter_by_letter_what_it_was(store, format):
    ids = tracked()
    some = [ids[3], 7, ids[0], ids[1], ids[3]]
    before = exported(ids, format), exported(some, format)
    append(ids[2], MONTHS[1])
    with_late = exported(ids, format)

    archive(store, before=MONTHS[2])

    assert exported(ids, format) == with_late
    archive(store)
    assert exported(ids, format) == exported((), format) == with_late
    assert exported(some, format) == before[1]
    assert len(with_late.splitlines()) == len(before[0].splitlines()) + 1


def test_unknown_figures_and_times_are_those_of_the_files(store):
    [id, *_] = tracked()
    archive(store)
    in_json = [json.loads(line) for line in exported([id]).splitlines()]
    in_csv = list(csv.DictReader(io.StringIO(exported([id], "csv").decode())))

    assert len(in_json) == len(in_csv) == 14
    assert {row["quotes"] for row in in_json} == {None}
    assert in_json[3]["measured_until"] > in_json[3]["taken_at"] == "2024-11-21T06:00:00.000001Z"
    for line, row in zip(in_json, in_csv, strict=True):
        assert {name: "" if line[name] is None else str(line[name]) for name in row} == row
        assert list(row) == ["tweet_id", "taken_at", "measured_until", "measurements", *METRICS]


def test_untracked_tweets_are_left_out(store):
    ids = tracked()
    archive(store)
    before = exported(ids[1:])

    untrack_tweets(ids[:1])

    assert exported() == exported(ids) == before
    assert exported(ids[:1]) == b""


@pytest.mark.parametrize("asked", ["some", "all"])
def test_moved_and_replaced_samples_are_exported_once(store, asked):
    ids = tracked(tweets=6)
    archive(store, before=MONTHS[1])
    expected = in_order(exported(ids))
    gone = [line for line in expected if json.loads(line)["tweet_id"] == str(ids[5])]

    blocks = export_samples(ids if asked == "some" else [], format="jsonl")
    lines = next(blocks)
    # To the archive; then another process makes all files anew, and deletes those of before.
    archive(store)
    lines += next(blocks)
    untrack_tweets(ids[5:])
    # Of each month that of samples, and that of facts.
    assert erase(store, now=timezone.now() + timedelta(hours=1), deadline=LATER) == 6
    lines += b"".join(blocks)

    assert in_order(lines) == expected[: -len(gone)]
    assert len(gone) == 14


def test_file_that_is_replaced_while_it_is_opened_is_found_again(store, monkeypatch):
    ids = tracked()
    archive(store)
    expected = exported(ids[:4])
    opened = type(store).open
    replaced = []

    def open_after_another_writer(self, path):
        if not replaced:
            replaced.append(path)
            untrack_tweets(ids[4:])
            erase(store, now=timezone.now() + timedelta(hours=1), deadline=LATER)
        return opened(self, path)

    monkeypatch.setattr(type(store), "open", open_after_another_writer)

    assert exported(ids) == expected
    assert replaced


def test_archiving_begins_before_the_export_is_read(store):
    ids = tracked()
    expected = in_order(exported(ids))
    waiting = [export_samples(asked, format="jsonl") for asked in (ids, [])]
    in_csv = export_samples([], format="csv")
    archive(store)

    for blocks in waiting:
        assert in_order(b"".join(blocks)) == expected
    assert len(b"".join(in_csv).splitlines()) == 1 + len(expected)


def test_unreadable_archive_is_refused_before_the_first_byte(store, settings):
    ids = tracked()
    archive(store)
    path = store.root / file_of(MONTHS[1])
    aside = path.rename(path.with_suffix(".aside"))
    with pytest.raises(ArchiveAway, match=r"Samples of 2024-12 are missing.*is not there"):
        export_samples([], format="csv")

    aside.rename(path)
    moved = store.root.rename(store.root.with_name("moved"))
    with pytest.raises(ArchiveAway, match="Samples of 2024-11 to 2025-01 are missing"):
        export_samples(ids, format="jsonl")
    settings.ARCHIVE = ""
    with pytest.raises(ArchiveAway, match="ARCHIVE is not set"):
        export_samples(ids, format="jsonl")
    settings.ARCHIVE = str(moved)
    assert len(exported(ids).splitlines()) == counted() + 10


def test_bucket_that_cannot_be_reached_is_refused_and_a_slow_one_waited_for(bucket, relay):
    ids = tracked()
    expected = exported(ids)
    archive(bucket)
    # A page would have given it up.
    relay.wait_s = 1.5
    assert exported(ids[:2]) == b"".join(expected.splitlines(keepends=True)[:28])

    relay.close()
    with pytest.raises(ArchiveAway, match=r"missing.*The bucket cannot be reached"):
        export_samples([], format="jsonl")


def test_export_breaks_off_where_a_file_is_damaged(store, capfdbinary):
    ids = tracked(tweets=40, each=2_000, months=MONTHS[:1])
    expected = exported(ids)
    archive(store)
    path = store.root / file_of(MONTHS[0])
    views = parquet.ParquetFile(path).metadata.row_group(1).column(9)
    data = bytearray(path.read_bytes())
    begin, length = views.data_page_offset, views.total_compressed_size
    data[begin : begin + length] = bytes(length)
    path.write_bytes(data)

    blocks = export_samples(ids, format="jsonl")
    # So many tweets are in the first row group.
    read = b"".join(next(blocks) for _ in range(20))
    assert expected.startswith(read)
    assert read.endswith(b"\n")
    with pytest.raises(ArchiveAway, match="Samples of 2024-11 are missing"):
        next(blocks)
    with pytest.raises(CommandError, match=r"not complete\. Samples of 2024-11"):
        call_command("export", "samples")


def test_memory_does_not_grow_with_tweets(store):
    ids = tracked(tweets=200, each=200, months=MONTHS[:2])
    archive(store)
    ours = pyarrow.default_memory_pool()

    def peak(some):
        pool = pyarrow.proxy_memory_pool(ours)
        pyarrow.set_memory_pool(pool)
        tracemalloc.start()
        lines = sum(block.count(b"\n") for block in export_samples(some, format="jsonl"))
        most = tracemalloc.get_traced_memory()[1] + pool.max_memory()
        tracemalloc.stop()
        pyarrow.set_memory_pool(ours)
        assert lines == len(some) * 402
        return most

    small = peak(ids[:10])
    assert peak(ids) < 1.3 * small
