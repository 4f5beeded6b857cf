"""An uploaded file: what is found in it, in each shape, and what a person sees and chooses."""

import gzip
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.ingest.files.uploads import (
    FIRST,
    A,
    B,
    C,
    bad_lines,
    counts,
    imported,
    upload,
    v2_lines,
    v2_tweet,
    work,
)
from trackers.ingest.files import importing
from trackers.ingest.files.models import ImportJob, ImportPart
from trackers.ingest.files.preview import preview
from trackers.ingest.found_tweets import UnreadableError
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.jobs import queue
from trackers.tweets.history import history
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetUpdate

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
        pytest.param(f'say,tweet_id\r"x",{A}\ry,{B}\r', 2, id="lines that end with CR alone"),
        pytest.param(f'say,tweet_id\n"a\rb",{A}\n"c\r",{B}\n', 2, id="CR in texts"),
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
def test_every_file_format_is_imported(data, tracked, packed):
    data = data.encode()

    report = imported(gzip.compress(data, mtime=0) if packed else data)

    assert counts(report) == (tracked, tracked, 0, 0)
    assert report.parts == report.parts_done
    assert None not in (report.uploaded_at, report.began_at, report.ended_at)
    assert Tweet.objects.count() == SourceTweet.objects.count() == tracked
    assert Source.objects.get().yielded == tracked
    assert not ImportPart.objects.exists()
    assert not ImportJob.objects.exists()


def test_tweets_name_their_file_and_keep_its_fields():
    imported("".join(v2_lines(2)), name="mine.jsonl")

    tweet = Tweet.objects.select_related("tweettext").get(id=FIRST)
    assert (tweet.came_from, tweet.author_id) == ("file mine.jsonl", 1)
    assert tweet.tweettext.text.startswith("words")
    [run] = history(FIRST)
    assert (run.taken_at.day, run.replies) == (4, 2)


def test_referenced_tweets_are_imported_on_request():
    assert imported(json.dumps(PAGE), referenced=True).tracked == 3


def test_an_import_is_a_source_of_its_uploader():
    source = upload("1\n").source

    assert (source.kind, source.of, source.owner, str(source)) == (
        "import", "tweets.txt", "ada", "file tweets.txt",
    )  # fmt: skip


def test_nothing_is_imported_before_the_start():
    upload(f"{A}\n")

    assert work() == 0
    assert not Tweet.objects.exists()


def test_starting_twice_imports_once():
    report = upload(f"{A}\n")

    assert importing.start(report, column=None, referenced=False)
    work()
    assert not importing.start(report, column=None, referenced=False)

    assert work() == 0


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


def test_lines_before_a_table_are_reported_at_once():
    report = upload(f"Export of 2024\n\nwhen,post\nx,{A}\n")

    report.refresh_from_db()
    assert (report.header, report.column, report.rejected) == ("when,post", "2", 1)
    assert bad_lines(report) == [1]


def test_a_person_previews_a_column_and_chooses_another():
    report = upload(f"tweet_id,answer_to\n{A},{B}\n{C},{B + 5}\n")

    guessed = preview(report, column=1, referenced=False)
    other = preview(report, column=2, referenced=False)

    assert guessed.columns == ("tweet_id", "answer_to")
    assert guessed.rows == ((str(A), str(B)), (str(C), str(B + 5)))
    assert [one.id for one in guessed.tweets] == [A, C]
    assert [one.id for one in other.tweets] == [B, B + 5]


def test_a_table_with_an_unclear_id_column_waits_for_a_person():
    ages = upload("age\n12\n33\n")
    assert (ages.format, ages.column) == ("csv", "")
    report = upload(f"user_id,account_id\n{A},{B}\n")
    report.refresh_from_db()
    assert report.column == ""

    with pytest.raises(UnreadableError, match="Choose the column"):
        importing.start(report, column=None, referenced=False)
    with pytest.raises(UnreadableError, match="Choose the column"):
        importing.start(report, column=3, referenced=False)
    assert importing.start(report, column=2, referenced=False)
    work()

    assert Tweet.objects.get().id == B


def test_bytes_of_an_old_encoding_cost_no_tweet_and_are_reported():
    report = imported(f"text,tweet_id\nGrüße,{A}\n".encode("latin-1"))

    assert counts(report) == (1, 1, 0, 0)
    assert "UTF-8" in report.note


def test_a_lone_surrogate_and_a_nul_are_harmless():
    tweet = v2_tweet(0, text="\ud83d half\0")

    assert imported(json.dumps([tweet], indent=1)).tracked == 1
    assert imported(json.dumps(v2_tweet(1, text="\ud83d\0"))).tracked == 1
