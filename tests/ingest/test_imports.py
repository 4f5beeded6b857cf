"""An uploaded file: taken in by parts, imported once by whoever comes, and told of in full."""

from __future__ import annotations

import csv
import gzip
import io
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.ingest.imports import (
    FIRST,
    bad_lines,
    counts,
    imported,
    upload,
    v2_lines,
    v2_tweet,
    work,
)
from trackers import tasks
from trackers.ingest import sources
from trackers.ingest.cut import cut
from trackers.ingest.files import LONGEST_LINE, lines_of
from trackers.ingest.found import UnreadableError
from trackers.ingest.imports import Import, ImportJob, ImportPart, RejectedLine
from trackers.ingest.models import Source, SourceTweet
from trackers.ingest.reading import preview
from trackers.ingest.start import failed_parts, forget_unfinished
from trackers.jobs import queue
from trackers.tweets.history import history
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetUpdate

pytestmark = pytest.mark.django_db

A, B, C = FIRST, FIRST + 1, FIRST + 2
LINK = "https://x.com/someone/status/"
PAGE = {
    "data": [v2_tweet(0), v2_tweet(1)],
    "includes": {"users": [{"id": "1", "username": "ada"}], "tweets": [v2_tweet(2)]},
    "__twarc": {"retrieved_at": "2023-05-04T10:00:00+00:00"},
}
V1 = {
    "id_str": str(A), "full_text": "words", "created_at": "Wed Oct 10 20:19:24 +0000 2018",
    "favorite_count": 3, "retweet_count": 1, "user": {"id_str": "7", "screen_name": "ada"},
}  # fmt: skip
ARCHIVE = "window.YTD.tweets.part0 = " + json.dumps(
    [{"tweet": {"id_str": str(FIRST + n), "full_text": "mine"}} for n in range(3)], indent=2
)


@pytest.mark.parametrize(
    ("data", "tracked"),
    [
        pytest.param(f"{A}\n{B}\n{C}\n", 3, id="ids"),
        pytest.param(f"# mine\n{A}\n{LINK}{B}?s=20\n", 2, id="addresses"),
        pytest.param(f"when,tweet_id\nx,{A}\ny,{B}\n", 2, id="a table"),
        pytest.param(f"when;{A}\nx;{B}\n", 2, id="a table without a header"),
        pytest.param("".join(v2_lines(3)), 3, id="v2, flat"),
        pytest.param(json.dumps(PAGE) + "\n", 2, id="v2, a page a line"),
        pytest.param(json.dumps(V1) + "\n", 1, id="v1.1"),
        pytest.param(ARCHIVE, 3, id="an archive"),
        pytest.param(json.dumps(PAGE, indent=1), 2, id="a page over many lines"),
        pytest.param(json.dumps([v2_tweet(n) for n in range(900)]), 900, id="a list in one line"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_each_shape_of_a_file_is_imported(data, tracked, packed):
    data = data.encode()

    report = imported(gzip.compress(data, mtime=0) if packed else data)

    assert counts(report) == (tracked, tracked, 0, 0)
    assert report.parts == report.parts_done
    assert None not in (report.uploaded_at, report.began_at, report.ended_at)
    assert Tweet.objects.count() == SourceTweet.objects.count() == tracked
    assert Source.objects.get().yielded == tracked
    assert not ImportPart.objects.exists()
    assert not ImportJob.objects.exists()


def test_tweets_say_which_file_they_came_from_and_keep_what_came_with_them():
    imported("".join(v2_lines(2)), name="mine.jsonl")

    tweet = Tweet.objects.select_related("tweettext").get(id=FIRST)
    assert (tweet.came_from, tweet.author_id) == ("file mine.jsonl", 1)
    assert tweet.tweettext.text.startswith("words")
    [run] = history(FIRST)
    assert (run.taken_at.day, run.replies) == (4, 2)


def test_referenced_tweets_come_along_on_choice():
    assert imported(json.dumps(PAGE), referenced=True).tracked == 3


def test_an_import_is_a_source_of_whoever_uploaded_it():
    source = upload("1\n").source

    assert (source.kind, source.of, source.owner, str(source)) == (
        "import", "tweets.txt", "ada", "file tweets.txt",
    )  # fmt: skip


def test_nothing_is_imported_before_somebody_starts_it():
    upload(f"{A}\n")

    assert work() == 0
    assert not Tweet.objects.exists()


def test_a_file_of_many_parts_loses_no_line_and_keeps_their_numbers():
    lines = [str(FIRST + n) for n in range(13_001)]
    for bad in (0, 3999, 4000, 12_999):
        lines[bad] = "bad"
    lines[5:5] = ["", "# a remark"]

    report = imported("\n".join([str(FIRST), *lines]))

    assert report.parts == 4
    assert counts(report) == (13_002, 12_998, 0, 4)
    assert bad_lines(report) == [2, 4003, 4004, 13_003]
    assert TweetUpdate.objects.count() == 12_998


def test_the_second_time_the_same_file_tracks_nothing_and_says_so():
    data = f"{A}\n{B}\nbad\n"
    imported(data)
    queue.schedule("tweet:update", A, timedelta(hours=5))

    again = imported(data)

    assert counts(again) == (3, 0, 2, 1)
    assert TweetUpdate.objects.get(key=A).due_at > timezone.now() + timedelta(hours=4)
    assert SourceTweet.objects.filter(source=again.pk).count() == 2


def test_a_tweet_twice_in_a_file_counts_once_as_tracked():
    assert counts(imported(f"{A}\n{A}\n")) == (2, 1, 1, 0)


def test_damaged_lines_are_told_by_number_text_and_reason():
    report = imported(
        '{"id": "1"}\n\n{"id": \n{"id": "2"}\n{"id": "x\0y"}\n'.replace("\0", "\\u0000")
    )

    assert counts(report) == (4, 2, 0, 2)
    [one, other] = report.source.rejected_lines.all()
    assert (one.line, one.text) == (3, '{"id": ')
    assert one.why.startswith("is no JSON")
    assert other.line == 5


def test_of_a_million_bad_lines_the_first_thousand_are_kept_whatever_part_comes_first():
    data = "\n".join(f"{A}" if n % 2 else f"bad {n}" for n in range(18_000))
    report = upload(data)
    tasks.start_import(report, column=None, referenced=False)
    jobs = list(ImportJob.objects.order_by("-key").values_list("key", flat=True))
    for place, key in enumerate(jobs):
        # The last part of the file comes first.
        queue.schedule("import:part", key, timedelta(seconds=place - 100))

    work()

    report.refresh_from_db()
    assert (len(jobs), report.rejected) == (5, 9000)
    assert bad_lines(report) == list(range(1, 2000, 2))


def test_a_damaged_object_of_a_document_is_told_by_its_line():
    text = json.dumps([{"id": str(FIRST + n)} for n in range(500)], indent=2)
    damaged = text.replace(f'"{FIRST + 100}"', f'"{FIRST + 100}', 1)

    report = imported(damaged)

    assert counts(report) == (500, 499, 0, 1)
    [line] = bad_lines(report)
    assert 300 <= line <= 303


def test_a_packed_file_that_breaks_off_brings_what_is_whole_and_says_where():
    text = "".join(f"{n}\n" for n in range(FIRST, FIRST + 20_000)).encode()

    report = imported(gzip.compress(text, mtime=0)[:-1000])

    assert 10_000 < report.tracked < 20_000
    [line] = report.source.rejected_lines.all()
    assert line.line == report.tracked + 1
    assert "breaks off" in line.why


def test_a_packed_file_with_a_damaged_byte_brings_what_comes_before_it():
    text = "".join(f"{n * 7919}\n" for n in range(1, 40_000)).encode()
    data = bytearray(gzip.compress(text, mtime=0))
    data[len(data) // 2] ^= 0xFF

    report = imported(bytes(data))

    assert 0 < report.tracked < 39_999
    assert any("breaks off" in one.why for one in report.source.rejected_lines.all())


def test_fields_with_line_ends_are_never_cut_between_parts():
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["text", "tweet_id"])
    writer.writerows([('one, "two"\n\nthree', FIRST + n) for n in range(9000)])

    report = imported(file.getvalue())

    assert report.parts > 3
    assert counts(report) == (9000, 9000, 0, 0)


def test_a_document_of_one_very_long_line_loses_nothing_where_its_pieces_meet():
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


def test_after_a_very_long_line_the_numbers_are_those_of_the_file():
    data = b'{"id": "1"}\n' + b"x" * (2 * LONGEST_LINE + 5) + b'\n\n{"id": "2"}\nbad\n'

    report = imported(data)

    assert counts(report)[:3] == (6, 2, 0)
    assert bad_lines(report) == [2, 5]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_every_part_knows_the_table_it_is_of(delimiter):
    rows = [f'"a,b;c,d;e"{delimiter}{FIRST + n}' for n in range(8500)]

    report = imported("\n".join([f"a{delimiter}post", *rows, f"bad{delimiter}x"]))

    assert counts(report) == (8501, 8500, 0, 1)
    assert bad_lines(report) == [8502]


def test_what_comes_before_a_table_is_told_of_at_once():
    report = upload(f"Export of 2024\n\nwhen,post\nx,{A}\n")

    report.refresh_from_db()
    assert (report.header, report.column, report.rejected) == ("when,post", "2", 1)
    assert bad_lines(report) == [1]


def test_a_person_sees_what_a_column_gives_and_chooses_another():
    report = upload(f"tweet_id,answer_to\n{A},{B}\n{C},{B + 5}\n")

    guessed = preview(report, column=1, referenced=False)
    other = preview(report, column=2, referenced=False)

    assert guessed.columns == ("tweet_id", "answer_to")
    assert guessed.rows == ((str(A), str(B)), (str(C), str(B + 5)))
    assert [one.id for one in guessed.tweets] == [A, C]
    assert [one.id for one in other.tweets] == [B, B + 5]


def test_a_table_whose_column_nobody_can_guess_waits_for_a_person():
    report = upload(f"user_id,account_id\n{A},{B}\n")
    report.refresh_from_db()
    assert report.column == ""

    with pytest.raises(UnreadableError, match="which column"):
        tasks.start_import(report, column=None, referenced=False)
    with pytest.raises(UnreadableError, match="which column"):
        tasks.start_import(report, column=3, referenced=False)
    assert tasks.start_import(report, column=2, referenced=False)
    work()

    assert Tweet.objects.get().id == B


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (gzip.compress(b"", mtime=0), "empty"),
        (b"\n\n", "nothing in it"),
        (b"# only a remark\n", "nothing in it"),
        (b"PK\x03\x04rest", "workbook"),
        (b"%PDF-1.7", "PDF"),
        (b"\x00\x01\x02" * 50, "no text"),
        (f"{A}\n{B}\n".encode("utf-16"), "UTF-16"),
        (f"{A}\n{B}\n".encode("utf-16-le"), "UTF-16"),
        (b"BZh91AY", "bzip2"),
        (b"\x1f\x8bgarbage that is no gzip", "damaged from its beginning"),
        (b"Dear diary,\ntoday nothing happened.\n", "no tweet in it. Line 2"),
        (b"a,b\nc,d\n", "no tweet in it"),
        (b'{"a": 1}\n', "no tweet in it. Line 1"),
        (b"[\n  {}\n]\n", "no tweet in it. Line 2"),
        (gzip.compress(b"x" * 10, mtime=0), "no tweet in it"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence_and_leaves_nothing_behind(data, said):
    with pytest.raises(UnreadableError, match=said):
        upload(data)

    assert not Source.objects.exists()
    assert not ImportPart.objects.exists()


def test_letters_of_an_old_encoding_cost_no_tweet_and_are_told_of():
    report = imported(f"text,tweet_id\nGrüße,{A}\n".encode("latin-1"))

    assert counts(report) == (1, 1, 0, 0)
    assert "UTF-8" in report.told


def test_half_a_surrogate_pair_and_a_zero_do_no_harm():
    tweet = v2_tweet(0, text="\ud83d half\0")

    assert imported(json.dumps([tweet], indent=1)).tracked == 1
    assert imported(json.dumps(v2_tweet(1, text="\ud83d\0"))).tracked == 1


def test_a_reader_that_dies_in_the_middle_leaves_nothing_of_the_upload():
    class Broken(io.BytesIO):
        def read1(self, size=-1):
            if self.tell() > 3_000_000:
                raise ConnectionResetError
            return super().read1(size)

    file = Broken("".join(v2_lines(3000)).encode())
    with pytest.raises(ConnectionResetError):
        tasks.upload_file(file, name="x", owner="", size=0)

    assert not Source.objects.exists()
    assert not ImportPart.objects.exists()


def test_starting_twice_imports_once():
    report = upload(f"{A}\n")

    assert tasks.start_import(report, column=None, referenced=False)
    work()
    assert not tasks.start_import(report, column=None, referenced=False)

    assert work() == 0


def started(data):
    report = upload(data)
    tasks.start_import(report, column=None, referenced=False)
    return report


def test_a_lease_that_was_lost_writes_nothing():
    report = started(f"{A}\nbad\n")
    late = queue.claim("import:part")
    queue.schedule("import:part", late.keys[0], timedelta(0))
    work()

    tasks.import_part(late)

    report.refresh_from_db()
    assert counts(report) == (2, 1, 0, 1)
    assert report.parts_done == 1


def test_a_lease_that_was_lost_before_the_other_is_done_writes_nothing_either():
    report = started(f"{A}\n")
    late = queue.claim("import:part")
    queue.schedule("import:part", late.keys[0], timedelta(0))

    tasks.import_part(late)

    assert not Tweet.objects.exists()
    assert ImportPart.objects.count() == 1
    assert work() == 1
    report.refresh_from_db()
    assert report.tracked == 1


def test_a_part_that_fails_in_the_middle_is_done_again_and_counted_once(monkeypatch):
    report = started(f"{A}\n{B}\nbad\n")
    batch = queue.claim("import:part")
    # As if the database went away at the last statement.
    with monkeypatch.context() as patch:
        patch.setattr("trackers.ingest.import_part.COUNT", "SELECT 1 / 0")
        with pytest.raises(Exception, match="division by zero"):
            tasks.import_part(batch)
    assert not Tweet.objects.exists()

    queue.release(batch)
    work()

    report.refresh_from_db()
    assert counts(report) == (3, 2, 0, 1)


def test_a_paused_import_waits_and_goes_on_when_it_is_resumed():
    report = started(f"{A}\n")
    sources.pause([report.pk])

    assert work() == 1
    assert not Tweet.objects.exists()
    sources.resume([report.pk])
    work()

    assert Tweet.objects.count() == 1
    assert ImportJob.objects.count() == 0


def test_a_source_that_is_removed_takes_along_what_waits():
    report = started("\n".join(str(FIRST + n) for n in range(5000)))
    batch = queue.claim("import:part")

    sources.remove([report.pk])
    tasks.import_part(batch)

    assert not Tweet.objects.exists()
    assert not Import.objects.exists()
    assert not ImportPart.objects.exists()
    assert not ImportJob.objects.exists()
    assert not RejectedLine.objects.exists()


def test_parts_that_nobody_takes_any_more_are_known_and_tried_again():
    report = started(f"{A}\n")
    ImportJob.objects.update(attempts=4, due_at=timezone.now() + timedelta(days=999))
    assert len(failed_parts(report)) == 1

    assert tasks.try_import_again(report) == 1
    assert failed_parts(report) == []
    work()

    assert Tweet.objects.count() == 1


def test_uploads_that_broke_off_or_were_never_started_are_forgotten_in_time():
    now = timezone.now()
    broken, unstarted, begun = upload("1\n"), upload("2\n"), started("3\n")
    Import.objects.filter(pk=broken.pk).update(uploaded_at=None)

    assert forget_unfinished(now + timedelta(hours=23)) == 0
    assert forget_unfinished(now + timedelta(hours=25)) == 1
    assert set(Import.objects.values_list("pk", flat=True)) == {unstarted.pk, begun.pk}
    assert forget_unfinished(now + timedelta(days=8)) == 1
    assert Import.objects.get().pk == begun.pk
    assert ImportPart.objects.count() == 1
