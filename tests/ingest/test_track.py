"""Tweets come in: stored, measured by what came with them, and scheduled, or none of it."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from django.utils import timezone

from tests.conftest import PROJECT
from tests.factories import post
from tests.told import kinds, ms, subscribe
from tests.told import told as told_events
from trackers.ingest.files.lines import Found, read
from trackers.ingest.files.track_lines import track_in_chunks, track_lines
from trackers.ingest.track import track
from trackers.jobs import queue
from trackers.schedule import steer
from trackers.schedule.namespace import TWEET_UPDATE
from trackers.tweets.history import history
from trackers.tweets.models import Tweet, TweetVersion
from trackers.tweets.snowflake import first_id_at
from trackers.updater.models import TweetUpdate

pytestmark = pytest.mark.django_db


def counts_of(*lines):
    done = track_lines(lines, came_from="a test")
    return done.read, done.tracked, done.already, len(done.rejected)


def due_in(id):
    due_at = TweetUpdate.objects.values_list("due_at", flat=True).filter(key=id).first()
    return due_at and due_at - timezone.now()


def tweet(id, *, age=timedelta(minutes=1), likes=3, retrieved_at=None):
    created_at = (timezone.now() - age).isoformat()
    marks = {"__twarc": {"retrieved_at": retrieved_at.isoformat()}} if retrieved_at else {}
    metrics = {"retweet_count": 0, "reply_count": 0, "like_count": likes, "quote_count": 0}
    return json.dumps(
        {"id": str(id), "text": "words", "author_id": "7", "created_at": created_at,
         "public_metrics": metrics, **marks}
    )  # fmt: skip


def versions(*ids, history):
    """One edited tweet in several lines, as files have it."""
    return [
        Found(id, post(id, likes=1, text=f"version {id}")._replace(edit_history=history))
        for id in ids
    ]


def test_of_an_edited_tweet_a_file_brings_one_row_with_its_newest_version():
    list(track(versions(11, 13, 12, history=(11, 12, 13)), came_from="a test"))

    tweet = Tweet.objects.select_related("tweettext").get()
    assert (tweet.pk, tweet.newest, tweet.tweettext.text) == (11, 13, "version 13")
    said = [one.text for one in TweetVersion.objects.order_by("id")]
    assert said == ["version 11", "version 12", "version 13"]


def test_a_later_file_with_another_version_finds_the_tweet():
    list(track([Found(12)], came_from="a test"))

    [done] = track(versions(13, history=(11, 12, 13)), came_from="a test")
    [again] = track([Found(11)], came_from="a test")

    assert (done.tracked, again.tracked) == (0, 0)
    assert Tweet.objects.values_list("id", "newest").get() == (12, 13)


def test_a_tweet_that_is_new_is_told_as_created_once_and_as_deleted_when_it_is_untracked():
    counts_of("1")
    subscribe("tweets")
    counts_of("4", "1", "3")
    counts_of(tweet(2), tweet(3))

    assert kinds() == [("create", 3), ("create", 4), ("create", 2)]
    tracked_at = dict(Tweet.objects.values_list("id", "tracked_at"))
    assert [one.t for one in told_events()] == [ms(tracked_at[id]) for id in (3, 4, 2)]

    Tweet.objects.filter(id=1).update(gone_at=timezone.now())
    assert steer.untrack([3, 2, 1, 99]) == 3
    # That of 1 was told when X showed it no more.
    assert kinds()[3:] == [("delete", 2), ("delete", 3)]
    assert all(one.t > ms(tracked_at[one.tweet_id]) for one in told_events()[3:])


def test_the_counts_add_up():
    assert counts_of("1", "2", "bad", "2", "", "worse", "3") == (6, 3, 1, 2)
    assert counts_of("3", "4", "bad") == (3, 1, 1, 1)
    assert counts_of("bad") == (1, 0, 0, 1)
    assert counts_of() == (0, 0, 0, 0)


def test_a_bare_id_is_due_at_once_whatever_its_age():
    counts_of("20", "1212092628029698048")

    assert all(due_in(id) < timedelta(seconds=1) for id in (20, 1212092628029698048))
    assert Tweet.objects.get(id=20).came_from == "a test"


def test_the_young_ones_are_urgent_bare_or_not():
    young, old = (
        first_id_at(int((timezone.now() - age).timestamp() * 1000))
        for age in (timedelta(minutes=5), timedelta(minutes=30))
    )
    counts_of(str(young), str(old), "20")
    counts_of(tweet(young + 1, age=timedelta(minutes=5)))

    urgent = TweetUpdate.objects.filter(urgent=True).values_list("key", flat=True)
    assert {*urgent} == {young, young + 1}


def test_the_same_file_twice_tracks_once_and_moves_nothing():
    lines = ["1", tweet(2), "3"]
    counts_of(*lines[:1])
    queue.schedule(TWEET_UPDATE, 1, timedelta(hours=5))

    assert counts_of(*lines[:1]) == (1, 0, 1, 0)
    assert due_in(1) > timedelta(hours=4)


@pytest.mark.parametrize(
    ("age", "every"),
    [
        (timedelta(minutes=1), timedelta(minutes=1)),
        (timedelta(minutes=20), timedelta(minutes=5)),
        (timedelta(days=2), timedelta(hours=6)),
        (timedelta(days=31), None),
    ],
)
def test_what_comes_with_its_figures_is_a_first_sample_and_planned_by_its_age(age, every):
    counts_of(tweet(1, age=age))

    [run] = history(1)
    assert (run.likes, run.measurements) == (3, 1)
    found = Tweet.objects.select_related("tweettext").get()
    assert (found.tweettext.text, found.author_id) == ("words", 7)
    if every is None:
        assert due_in(1) is None
    else:
        assert due_in(1) / every == pytest.approx(1, abs=0.07)


def test_figures_are_of_the_time_they_were_retrieved():
    at = datetime(2026, 1, 2, tzinfo=UTC)

    counts_of(tweet(1, retrieved_at=at), tweet(2, retrieved_at=timezone.now() + timedelta(days=1)))

    assert history(1)[0].taken_at == at
    assert history(2)[0].taken_at <= timezone.now()


def test_a_file_read_twice_measures_nothing_twice():
    line = tweet(1, retrieved_at=timezone.now() - timedelta(minutes=5))
    counts_of(line)
    counts_of(line)

    assert sum(run.measurements for run in history(1)) == 1


def test_old_figures_of_unknown_time_do_not_spoil_what_we_measured_ourselves():
    counts_of(tweet(1, likes=500))

    counts_of(tweet(1, likes=3))

    assert Tweet.objects.get().likes == 500


def test_of_one_tweet_in_several_lines_the_figures_are_not_lost():
    counts_of(tweet(1), json.dumps({"id": "1"}))

    assert Tweet.objects.get().likes == 3


def test_a_tweet_that_was_paused_is_not_woken_by_a_file():
    counts_of("1")
    steer.pause([1])

    counts_of("1")

    assert due_in(1) is None


def test_rejected_lines_do_not_fill_the_memory():
    most = 0
    for chunk in track_in_chunks(("bad" for _ in range(100_000)), came_from="a test"):
        most = max(most, len(chunk.rejected))

    assert most <= 20_000


@pytest.mark.django_db(transaction=True)
def test_a_chunk_that_fails_leaves_nothing_of_itself():
    def broken():
        yield from (Found(id) for id in range(1, 20_101))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(track(broken(), came_from="a test"))

    assert Tweet.objects.count() == TweetUpdate.objects.count() == 20_000


def command(url, *args, **more):
    return subprocess.Popen(
        [sys.executable, "manage.py", "track", *args],
        cwd=PROJECT,
        env={**os.environ, "DATABASE_URL": url},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )


def ids(count):
    return "".join(f"{1_900_000_000_000_000_000 + n * 4_194_304}\n" for n in range(count))


def test_kill_in_the_middle_leaves_each_tweet_tracked_and_scheduled_or_neither(
    fresh_database, tmp_path
):
    (tmp_path / "ids").write_text(ids(200_000))
    process = command(fresh_database, str(tmp_path / "ids"))
    with psycopg.connect(fresh_database, autocommit=True) as db:
        deadline = time.monotonic() + 30
        while not db.execute("SELECT EXISTS (SELECT FROM trackers_tweet)").fetchone()[0]:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()

        both = """
            SELECT count(t.id), count(j.key), count(*) FROM trackers_tweet t
            FULL JOIN trackers_tweetupdate j ON j.key = t.id
        """
        deadline = time.monotonic() + 10
        while db.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        ).fetchone() != (1,):
            assert time.monotonic() < deadline
        tweets, jobs, all = db.execute(both).fetchone()
    assert process.returncode == -signal.SIGKILL
    assert tweets == jobs == all
    assert 0 < all < 200_000

    again, _ = command(fresh_database, "--json", str(tmp_path / "ids")).communicate(timeout=240)
    assert json.loads(again) == {
        "read": 200_000, "tracked": 200_000 - all, "already": all, "rejected": 0
    }  # fmt: skip


# The kernel knows what a process took when it has ended. The processor's seconds are nearly the
# same on a busy machine.
MEASURED = """
import resource, subprocess, sys
subprocess.run([sys.executable, "manage.py", "track", "--json", sys.argv[1]], check=True,
               stdout=subprocess.DEVNULL)
took = resource.getrusage(resource.RUSAGE_CHILDREN)
print(took.ru_utime + took.ru_stime, took.ru_maxrss / 1024)
"""


@pytest.mark.more
def test_a_large_file_is_read_fast_and_memory_stays_flat(fresh_database, tmp_path, capsys):
    figures = {}
    for count in (20_000, 200_000):
        path = tmp_path / str(count)
        path.write_text(ids(count))
        said = subprocess.run(
            [sys.executable, "-c", MEASURED, str(path)],
            cwd=PROJECT,
            env={**os.environ, "DATABASE_URL": fresh_database},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        figures[count] = [float(word) for word in said.split()]
    (start, small), (took, large) = figures[20_000], figures[200_000]
    a_million = took + (took - start) / 180_000 * 800_000
    with capsys.disabled():
        print(
            f"\n200,000 ids in {took:.1f} s of a processor, a million in {a_million:.0f} s;"
            f" {large:.0f} MB, with a tenth of them {small:.0f} MB"
        )
    # Ten times as many, of which start-up is in both. Seen: 3.4 times.
    assert took < 6 * start
    assert large - small < 30


def test_a_million_lines_are_read_one_at_a_time():
    lines = (str(n) for n in iter(range(1, 10**9)))

    reader = read(lines)

    assert next(reader) == Found(1)
    assert next(lines) in {"2", "3"}


def told(process):
    """What a command said, and how it ended."""
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def test_the_command_takes_archives_from_files_and_pipes_and_tells_of_warnings(
    fresh_database, tmp_path
):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", "when,tweet_id\nx,5\n")
        archive.writestr("b.jsonl", '{"id": "6", "public_metrics": {"like_count": 1.0}}\n')
        archive.writestr("ReadMe.txt", "Dear diary\n")
    (tmp_path / "mine.zip").write_bytes(packed.getvalue())

    code, out, err = told(command(fresh_database, "--json", str(tmp_path / "mine.zip")))
    piped = subprocess.run(
        [sys.executable, "manage.py", "track", "-"],
        cwd=PROJECT,
        env={**os.environ, "DATABASE_URL": fresh_database},
        input=packed.getvalue(),
        capture_output=True,
    )

    assert (code, json.loads(out)) == (
        0, {"read": 2, "tracked": 2, "already": 0, "rejected": 0, "warnings": 1},
    )  # fmt: skip
    assert "line 1: tweet 6 is tracked, but like_count is 1.0, taken as 1" in err
    assert "Left out: ReadMe.txt (no tweets in it)." in err
    assert b"2 already tracked, 0 rejected, 1 with a warning" in piped.stdout


def test_the_command_says_what_a_file_is_not_and_which_limit_it_has_reached(
    fresh_database, tmp_path, monkeypatch
):
    (tmp_path / "book.xlsx").write_bytes(b"\xd0\xcf\x11\xe0rest")
    (tmp_path / "long").write_text(ids(30_000))
    monkeypatch.setenv("IMPORT_MOST_LINES", "25000")

    code, _, err = told(command(fresh_database, str(tmp_path / "book.xlsx")))
    assert code == 2
    assert "old workbook or document. Save the sheet as CSV" in err

    code, out, err = told(command(fresh_database, "--json", str(tmp_path / "long")))
    assert code == 1
    assert "long: This is 80% of the 25,000 lines that one import may have" in err
    assert "more than 25,000 lines" in err
    assert "IMPORT_MOST_LINES" in err
    assert json.loads(out)["tracked"] == 20_000


def test_a_packed_table_by_the_command_says_its_column_first_and_the_bad_lines_by_number(
    fresh_database, tmp_path
):
    rows = [
        "when,tweet_link",
        "x,https://x.com/a/status/5",
        "y,nothing",
        "z,https://x.com/a/status/6",
    ]
    (tmp_path / "mine.csv").write_bytes(gzip.compress("\n".join(rows).encode()))

    code, out, err = told(command(fresh_database, "--json", str(tmp_path / "mine.csv")))

    assert (code, json.loads(out)) == (0, {"read": 3, "tracked": 2, "already": 0, "rejected": 1})
    said, rejected = err.strip().splitlines()
    assert said.endswith("mine.csv: column tweet_link holds the tweets")
    assert rejected == "line 3: 'y,nothing' has no id in column 2"


def test_a_column_that_is_not_there_is_a_fault_of_usage(fresh_database, tmp_path):
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n")

    code, out, err = told(command(fresh_database, "--column", "c", str(tmp_path / "mine.csv")))

    assert (code, out) == (2, "")
    assert "There is no column c. The first line names: a, b" in err


def test_referenced_tweets_come_along_when_a_person_says_so(fresh_database, tmp_path):
    answer = {
        "data": [{"id": "5", "referenced_tweets": [{"type": "quoted", "id": "6"}]}],
        "includes": {"tweets": [json.loads(tweet(6))]},
    }
    (tmp_path / "answers.jsonl").write_text(json.dumps(answer))

    alone = told(command(fresh_database, "--json", str(tmp_path / "answers.jsonl")))
    with_others = told(
        command(fresh_database, "--json", "--referenced", str(tmp_path / "answers.jsonl"))
    )

    assert json.loads(alone[1])["tracked"] == 1
    assert json.loads(with_others[1]) == {"read": 2, "tracked": 1, "already": 1, "rejected": 0}


def test_an_archives_tweets_are_described_and_looked_up_at_once_instead_of_measured():
    archive = [{"tweet": {"id_str": "5", "full_text": "mine", "favorite_count": "3",
                          "created_at": "Wed Oct 10 20:19:24 +0000 2018"}}]  # fmt: skip
    text = "window.YTD.tweets.part0 = " + json.dumps(archive, indent=2)

    counts_of(*text.splitlines())

    found = Tweet.objects.select_related("tweettext").get()
    assert (found.tweettext.text, found.measurements, found.likes) == ("mine", 0, None)
    assert due_in(5) < timedelta(seconds=1)


# A line as twarc writes it, of 2 kB; through a pipe, so that no disk has to hold them all.
LINES = """
import json, sys
entities = {"urls": [{"expanded_url": "https://example.com/" + "x" * 100} for _ in range(11)]}
for n in range(int(sys.argv[1])):
    id = str(1_900_000_000_000_000_000 + n * 4_194_304)
    print(json.dumps({"id": id, "text": "words " * 20, "author_id": str(n % 5000 + 1),
        "created_at": "2025-03-12T10:00:00.000Z", "lang": "en", "edit_history_tweet_ids": [id],
        "public_metrics": {"retweet_count": 1, "reply_count": 2, "like_count": n % 100,
                           "quote_count": 0, "bookmark_count": 0, "impression_count": n},
        "entities": entities, "__twarc": {"retrieved_at": "2025-03-13T10:00:00+00:00"}}))
"""
PIPED = """
import resource, subprocess, sys, time
began = time.monotonic()
lines = subprocess.Popen([sys.executable, "-c", sys.argv[1], sys.argv[2]], stdout=subprocess.PIPE)
track = subprocess.Popen([sys.executable, "manage.py", "track", "--json", "-"], stdin=lines.stdout,
                         stdout=subprocess.DEVNULL)
_, status, used = __import__("os").wait4(track.pid, 0)
lines.stdout.close()
lines.wait()
assert status == 0
print(time.monotonic() - began, used.ru_maxrss / 1024)
"""


@pytest.mark.more
def test_lines_of_2_kb_keep_the_memory_flat(fresh_database, capsys):
    """A million take as much: `LINES_OF_JSON=1000000` tells it of them."""
    figures = {}
    many = int(os.environ.get("LINES_OF_JSON", "40000"))
    for count in (15_000, many):
        said = subprocess.run(
            [sys.executable, "-c", PIPED, LINES, str(count)],
            cwd=PROJECT,
            env={**os.environ, "DATABASE_URL": fresh_database},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        figures[count] = [float(word) for word in said.split()]
    (_, small), (took, large) = figures[15_000], figures[many]
    with capsys.disabled():
        print(f"\n{many:,} lines of 2 kB in {took:.1f} s; {large:.0f} MB, of 15,000 {small:.0f} MB")
    assert large < 300
    assert large - small < 40
