"""`manage.py track`: what is no list of tweets is told before anything is tracked."""

import gzip
import os
import pty
import sys
import zipfile
from io import StringIO

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command

from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db(transaction=True)


def run(*words):
    out = StringIO()
    call_command("track", *map(str, words), stdout=out, stderr=StringIO())
    return out.getvalue()


def workbook(path):
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("[Content_Types].xml", "<Types/>")
        made.writestr("xl/workbook.xml", "<workbook/>")
        made.writestr("xl/worksheets/sheet1.xml", "<worksheet>20</worksheet>")
    return path


def test_a_damaged_workbook_is_refused_with_the_sentence_of_the_upload(tmp_path):
    with pytest.raises(CommandError, match="a damaged workbook") as refused:
        run(workbook(tmp_path / "book.xlsx"))

    assert refused.value.returncode == 2


def test_a_damaged_workbook_from_a_pipe_is_refused(tmp_path, monkeypatch):
    ours, theirs = os.pipe()
    os.write(theirs, workbook(tmp_path / "book.xlsx").read_bytes())
    os.close(theirs)
    with open(ours) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(CommandError, match="a damaged workbook"):
            run("-")


def test_files_before_a_refused_one_are_tracked_and_counted(tmp_path):
    ids, table = tmp_path / "ids.txt", tmp_path / "ages.csv"
    ids.write_text("20\n21\n")
    table.write_text("name,age\nbob,12\n")
    out = StringIO()

    with pytest.raises(CommandError, match=r"ages\.csv: We could not tell which column") as refused:
        call_command("track", str(ids), str(table), stdout=out)

    assert refused.value.returncode == 2
    assert "2 read: 2 tracked" in out.getvalue()
    assert LogEntry.objects.get().change_message.startswith("Tracked, by")
    assert set(Tweet.objects.values_list("pk", flat=True)) == {20, 21}


def test_a_table_without_ids_does_not_block_other_files_of_an_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as made:
        made.writestr("a.csv", "name,age\nbob,12\n")
        made.writestr("b.txt", "20\n")

    with pytest.raises(CommandError, match="which column"):
        run(tmp_path / "all.zip")

    assert set(Tweet.objects.values_list("pk", flat=True)) == {20}


def test_a_pipe_may_be_given_by_name(tmp_path):
    # As the shell gives the output of a program: track <(zcat ids.gz)
    ours, theirs = os.pipe()
    os.write(theirs, gzip.compress(b"20\n21\n"))
    os.close(theirs)

    assert "2 tracked" in run(f"/proc/self/fd/{ours}")
    os.close(ours)


@pytest.mark.parametrize("text", ["", "[" * 100_000])
def test_a_file_without_tweets_is_reported(tmp_path, capsys, text):
    (tmp_path / "empty").write_text(text)

    with pytest.raises(SystemExit) as ended:
        run(tmp_path / "empty")

    assert ended.value.code == 1
    assert capsys.readouterr().err.endswith("empty: There are no tweets in it.\n")


def test_an_unreadable_file_is_named():
    with pytest.raises(CommandError, match="/proc/self/mem cannot be read: Input/output") as why:
        run("/proc/self/mem")

    assert why.value.returncode == 2


def test_at_a_terminal_the_command_says_what_it_waits_for(monkeypatch):
    ours, theirs = pty.openpty()
    with open(theirs, closefd=False) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(CommandError, match="Give tweet ids") as refused:
            run()
    os.close(ours)
    os.close(theirs)

    assert refused.value.returncode == 2


def test_ids_are_read_from_a_pipe_without_arguments(monkeypatch):
    ours, theirs = os.pipe()
    os.write(theirs, b"20\n21\n")
    os.close(theirs)
    with open(ours) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert "2 tracked" in run()

    assert Tweet.objects.count() == 2
