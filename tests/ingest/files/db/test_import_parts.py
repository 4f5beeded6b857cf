"""A file is taken in by parts; each is imported once, by whoever comes."""

import csv
import io
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.ingest.files.uploads import (
    FIRST,
    A,
    B,
    bad_lines,
    counts,
    imported,
    started,
    upload,
    v2_tweet,
    work,
)
from trackers import tasks
from trackers.ingest.files import importing
from trackers.ingest.files.cut import cut
from trackers.ingest.files.importing import failed_parts, prune_unstarted_uploads
from trackers.ingest.files.models import Import, ImportJob, ImportPart, RejectedLine
from trackers.ingest.files.opening import LONGEST_LINE, lines_of
from trackers.ingest.sources import life
from trackers.jobs import queue
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetUpdate


def test_a_file_of_many_parts_keeps_all_lines_and_their_numbers():
    lines = [str(FIRST + n) for n in range(13_001)]
    for bad in (0, 3999, 4000, 12_999):
        lines[bad] = "bad"
    lines[5:5] = ["", "# a remark"]

    report = imported("\n".join([str(FIRST), *lines]))

    assert report.parts == 4
    assert counts(report) == (13_002, 12_998, 0, 4)
    assert bad_lines(report) == [2, 4003, 4004, 13_003]
    assert TweetUpdate.objects.count() == 12_998


def test_fields_with_line_ends_are_never_cut_between_parts():
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["text", "tweet_id"])
    writer.writerows([('one, "two"\n\nthree', FIRST + n) for n in range(9000)])

    report = imported(file.getvalue())

    assert report.parts > 3
    assert counts(report) == (9000, 9000, 0, 0)


def test_a_document_of_one_long_line_loses_nothing_between_parts():
    tweets = [v2_tweet(n, text="😀é" * 9, bulk=30_000) for n in range(1300)]
    data = json.dumps(tweets, ensure_ascii=False).encode()
    assert len(data) > 2 * LONGEST_LINE

    # A byte more each time: some piece ends within a letter.
    for shift in range(4):
        all = list(
            cut(lines_of(io.BytesIO(b"[" + b" " * shift + data), passed=lambda _: None)).records
        )
        texts = {json.loads(record[0][1])["text"] for record in all}
        assert (len(all), texts) == (1300, {"😀é" * 9})


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_every_part_knows_the_header_of_its_table(delimiter):
    rows = [f'"a,b;c,d;e"{delimiter}{FIRST + n}' for n in range(8500)]

    report = imported("\n".join([f"a{delimiter}post", *rows, f"bad{delimiter}x"]))

    assert counts(report) == (8501, 8500, 0, 1)
    assert bad_lines(report) == [8502]


def test_a_part_whose_lease_was_lost_writes_nothing():
    report = started(f"{A}\nbad\n")
    late = queue.claim_batch("import:part")
    queue.schedule("import:part", late.keys[0], timedelta(0))
    work()

    tasks.import_part(late)

    report.refresh_from_db()
    assert counts(report) == (2, 1, 0, 1)
    assert report.parts_done == 1


def test_a_part_whose_lease_was_taken_over_writes_nothing():
    report = started(f"{A}\n")
    late = queue.claim_batch("import:part")
    queue.schedule("import:part", late.keys[0], timedelta(0))

    tasks.import_part(late)

    assert not Tweet.objects.exists()
    assert ImportPart.objects.count() == 1
    assert work() == 1
    report.refresh_from_db()
    assert report.tracked == 1


def test_a_part_that_failed_half_way_is_retried_and_counted_once(monkeypatch):
    report = started(f"{A}\n{B}\nbad\n")
    batch = queue.claim_batch("import:part")
    # As if the database went away at the last statement.
    with monkeypatch.context() as patch:
        patch.setattr("trackers.ingest.files.import_part.COUNT_PART", "SELECT 1 / 0")
        with pytest.raises(Exception, match="division by zero"):
            tasks.import_part(batch)
    assert not Tweet.objects.exists()

    queue.release(batch)
    work()

    report.refresh_from_db()
    assert counts(report) == (3, 2, 0, 1)


def test_a_paused_import_waits_and_goes_on_when_it_is_resumed():
    report = started(f"{A}\n")
    life.pause_sources([report.pk])

    assert work() == 1
    assert not Tweet.objects.exists()
    life.resume_sources([report.pk])
    work()

    assert Tweet.objects.count() == 1
    assert ImportJob.objects.count() == 0


def test_removing_a_source_removes_its_waiting_parts():
    report = started("\n".join(str(FIRST + n) for n in range(5000)))
    batch = queue.claim_batch("import:part")

    life.remove_sources([report.pk])
    tasks.import_part(batch)

    assert not Tweet.objects.exists()
    assert not Import.objects.exists()
    assert not ImportPart.objects.exists()
    assert not ImportJob.objects.exists()
    assert not RejectedLine.objects.exists()


def test_isolated_parts_are_reported_and_retried():
    report = started(f"{A}\n")
    ImportJob.objects.update(strikes=4, stamp=None)
    assert len(failed_parts(report)) == 1

    assert importing.try_again(report) == 1
    assert failed_parts(report) == []
    work()

    assert Tweet.objects.count() == 1


def test_broken_and_unstarted_uploads_are_pruned():
    now = timezone.now()
    broken, unstarted, begun = upload("1\n"), upload("2\n"), started("3\n")
    Import.objects.filter(pk=broken.pk).update(uploaded_at=None)

    assert prune_unstarted_uploads(now + timedelta(hours=23)) == 0
    assert prune_unstarted_uploads(now + timedelta(hours=25)) == 1
    assert set(Import.objects.values_list("pk", flat=True)) == {unstarted.pk, begun.pk}
    assert prune_unstarted_uploads(now + timedelta(days=8)) == 1
    assert Import.objects.get().pk == begun.pk
    assert ImportPart.objects.count() == 1
