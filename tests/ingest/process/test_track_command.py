"""`manage.py track`, as a process: files and pipes, large ones, and one that is killed."""

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile

import psycopg
import pytest

from tests.conftest import PROJECT

# Django makes its test database, of which ours are copies, for those marked alone.
pytestmark = pytest.mark.django_db


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


def test_a_kill_leaves_each_tweet_tracked_and_scheduled_or_neither(fresh_database, tmp_path):
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
        output = subprocess.run(
            [sys.executable, "-c", MEASURED, str(path)],
            cwd=PROJECT,
            env={**os.environ, "DATABASE_URL": fresh_database},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        figures[count] = [float(word) for word in output.split()]
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


def outcome_of(process):
    """What a command said, and how it ended."""
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def test_the_command_reads_archives_from_files_and_pipes_with_warnings(fresh_database, tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", "when,tweet_id\nx,5\n")
        archive.writestr("b.jsonl", '{"id": "6", "public_metrics": {"like_count": 1.0}}\n')
        archive.writestr("diary.txt", "Dear diary\n")
    (tmp_path / "mine.zip").write_bytes(packed.getvalue())

    code, out, err = outcome_of(command(fresh_database, "--json", str(tmp_path / "mine.zip")))
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
    assert "Left out: diary.txt (no tweets in it)." in err
    assert b"2 already tracked, 0 rejected, 1 with a warning" in piped.stdout


def test_the_command_names_unreadable_files_and_reached_limits(
    fresh_database, tmp_path, monkeypatch
):
    (tmp_path / "book.xlsx").write_bytes(b"\xd0\xcf\x11\xe0rest")
    (tmp_path / "long").write_text(ids(30_000))
    monkeypatch.setenv("IMPORT_MOST_LINES", "25000")

    code, _, err = outcome_of(command(fresh_database, str(tmp_path / "book.xlsx")))
    assert code == 2
    assert "It is a damaged workbook, or a document" in err

    code, out, err = outcome_of(command(fresh_database, "--json", str(tmp_path / "long")))
    assert code == 1
    assert "long: This is 80% of the 25,000 lines that one import may have" in err
    assert "more than 25,000 lines" in err
    assert "IMPORT_MOST_LINES" in err
    assert json.loads(out)["tracked"] == 20_000


def test_the_command_shows_the_column_of_a_compressed_table_and_its_bad_lines(
    fresh_database, tmp_path
):
    rows = [
        "when,tweet_link",
        "x,https://x.com/a/status/5",
        "y,nothing",
        "z,https://x.com/a/status/6",
    ]
    (tmp_path / "mine.csv").write_bytes(gzip.compress("\n".join(rows).encode()))

    code, out, err = outcome_of(command(fresh_database, "--json", str(tmp_path / "mine.csv")))

    assert (code, json.loads(out)) == (0, {"read": 3, "tracked": 2, "already": 0, "rejected": 1})
    said, rejected = err.strip().splitlines()
    assert said.endswith("mine.csv: column tweet_link holds the tweets")
    assert rejected == "line 3: 'y,nothing' has no id in column 2"


def test_an_unknown_column_is_a_usage_error(fresh_database, tmp_path):
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n")

    code, out, err = outcome_of(
        command(fresh_database, "--column", "c", str(tmp_path / "mine.csv"))
    )

    assert (code, out) == (2, "")
    assert "There is no column c. The first line names: a, b" in err


def test_referenced_tweets_are_tracked_on_request(fresh_database, tmp_path):
    answer = {
        "data": [{"id": "5", "referenced_tweets": [{"type": "quoted", "id": "6"}]}],
        "includes": {"tweets": [{"id": "6", "text": "words", "author_id": "7"}]},
    }
    (tmp_path / "answers.jsonl").write_text(json.dumps(answer))

    alone = outcome_of(command(fresh_database, "--json", str(tmp_path / "answers.jsonl")))
    with_others = outcome_of(
        command(fresh_database, "--json", "--referenced", str(tmp_path / "answers.jsonl"))
    )

    assert json.loads(alone[1])["tracked"] == 1
    assert json.loads(with_others[1]) == {"read": 2, "tracked": 1, "already": 1, "rejected": 0}


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
def test_memory_stays_flat_with_lines_of_2_kb(fresh_database, capsys):
    """A million take as much: `LINES_OF_JSON=1000000` tells it of them."""
    figures = {}
    many = int(os.environ.get("LINES_OF_JSON", "40000"))
    for count in (15_000, many):
        output = subprocess.run(
            [sys.executable, "-c", PIPED, LINES, str(count)],
            cwd=PROJECT,
            env={**os.environ, "DATABASE_URL": fresh_database},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        figures[count] = [float(word) for word in output.split()]
    (_, small), (took, large) = figures[15_000], figures[many]
    with capsys.disabled():
        print(f"\n{many:,} lines of 2 kB in {took:.1f} s; {large:.0f} MB, of 15,000 {small:.0f} MB")
    assert large < 300
    assert large - small < 40
