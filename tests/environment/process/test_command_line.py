"""What keeps a command from its work is told in a sentence, with the exit status of the contract.

Real processes, real descriptors: the shell closes them, fills them, and interrupts.
"""

import os
import pty
import shlex
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress

import psycopg
import pytest

from tests.conftest import PROJECT
from tests.databases import url_of

pytestmark = pytest.mark.django_db

MANAGE = f"{shlex.quote(sys.executable)} manage.py"
NOBODY_THERE = "postgres://user:secret-of-ours@127.0.0.1:1/tweetwatch"
# Where only requirements.txt is installed.
WITHOUT_FACTORY = """
import sys
sys.modules["factory"] = None
from tweetwatch.command_line import run_command
sys.exit(run_command(["manage.py", "bench"]))
"""
# A command that ends with a status of its own.
AT_THE_END = """
import atexit, os, signal, sys
from tweetwatch.interrupts import exit_on_interrupt
exit_on_interrupt()
os.environ["DJANGO_SETTINGS_MODULE"] = "tweetwatch.settings"
from tweetwatch.command_line import run_command

class Last:
    def __del__(self, kill=os.kill, me=os.getpid(), it=signal.SIGINT):
        kill(me, it)

if os.environ["INTERRUPT_AT"] == "exit":
    atexit.register(os.kill, os.getpid(), signal.SIGINT)
else:
    last = Last()
sys.stderr = open(os.devnull, "w")
status = run_command(["manage.py", "statsu"])
sys.stderr = sys.__stderr__
sys.exit(status)
"""
WAITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


def started(line, url="", **given):
    """A line of bash; PIPESTATUS tells of the first command in a pipe."""
    variables = {**os.environ, **given, **({"DATABASE_URL": url} if url else {})}
    return subprocess.Popen(
        ["bash", "-c", line],
        cwd=PROJECT,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # As at a terminal, also where the suite itself runs in the background.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def ended(process):
    """Its status and what it said, in which there is no traceback."""
    _, error = process.communicate(timeout=120)
    said = error.decode(errors="backslashreplace")
    assert "Traceback" not in said
    return process.returncode, said


def ran(line, url="", **given):
    return ended(started(line, url, **given))


def until(fact, what):
    deadline = time.monotonic() + 60
    while not fact():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("line", "given", "status", "sentence"),
    [
        pytest.param(
            f"{MANAGE} status", {"WORKERS": "0"}, 1, "WORKERS is '0', not a whole number",
            id="a wrong setting",
        ),
        pytest.param(
            f"{MANAGE} status", {"DATABASE_URL": NOBODY_THERE}, 1,
            "The database cannot be used: ", id="a database that is away",
        ),
        pytest.param(
            f"{MANAGE} track $'\\xff\\xfe.txt'", {}, 2,
            r"The argument “\xff\xfe.txt” is not UTF-8.", id="an argument that is not UTF-8",
        ),
        pytest.param(f"{MANAGE} help > /dev/full", {}, 1, "no space left", id="a full output"),
        pytest.param(
            f"{MANAGE} help >&-", {}, 1, "Standard output cannot be written: it is closed.",
            id="a closed output",
        ),
        pytest.param(f"{MANAGE} demo --port 99999", {}, 2, "is not a port", id="a wrong port"),
        pytest.param(
            f"{shlex.quote(sys.executable)} -c '{WITHOUT_FACTORY}'",
            {"DJANGO_SETTINGS_MODULE": "tweetwatch.settings"}, 1,
            "-m pip install -r requirements-dev.txt", id="benches without their packages",
        ),
        pytest.param(
            f"{MANAGE} statsu", {}, 2, "Did you mean status?", id="a command that there is not",
        ),
    ],
)  # fmt: skip
def test_each_usage_error_ends_with_a_sentence(line, given, status, sentence):
    code, said = ran(line, **given)

    assert (code, sentence in said) == (status, True), said
    assert "secret-of-ours" not in said


@pytest.mark.parametrize("command", ["help", "timeline snapshot -"])
def test_a_closed_pipe_ends_a_command_quietly(command, fresh_database):
    line = f"{MANAGE} {command} | true; exit ${{PIPESTATUS[0]}}"
    assert ran(line, fresh_database) == (0, "")


def test_an_interrupt_after_the_work_keeps_the_exit_status():
    """Once while it tidies up, once when Python itself has nearly ended."""
    line = f"{shlex.quote(sys.executable)} -c {shlex.quote(AT_THE_END)}"

    assert ran(line, INTERRUPT_AT="exit") == (2, "")
    assert ran(line, INTERRUPT_AT="last") == (2, "")


def test_ctrl_d_at_a_question_ends_the_command_with_a_sentence(fresh_database):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "credential", "add", "main", "--kind", "bearer"],
        cwd=PROJECT,
        env={**os.environ, "DATABASE_URL": fresh_database},
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Without a terminal of its own it asks on standard error, and reads standard input.
        start_new_session=True,
    )
    os.close(theirs)
    # What is typed before the question is thrown away.
    assert process.stderr.read(14) == b"bearer_token: "
    os.write(ours, b"\x04")

    assert ended(process) == (1, "The input ended before everything was entered.\n")
    os.close(ours)


def test_an_unmigrated_database_is_reported(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock():
        url = url_of("postgres")

    code, said = ran(f"{MANAGE} interval list", url)

    assert (code, said) == (
        1, "The database is not migrated to this version: run `manage.py migrate`.\n",
    )  # fmt: skip


def test_an_interrupt_at_the_start_ends_with_a_message(tmp_path):
    # The settings read this file, and wait for somebody who writes it.
    fifo = tmp_path / "authorities.pem"
    os.mkfifo(fifo)
    process = started(f"exec {MANAGE} status", X_CA_FILE=str(fifo))

    held = None
    try:
        deadline = time.monotonic() + 60
        while held is None and time.monotonic() < deadline:
            with suppress(OSError):
                held = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert ended(process) == (130, "Interrupted.\n")
    finally:
        process.kill()
        if held is not None:
            os.close(held)


def test_an_interrupt_of_an_export_ends_with_a_message(fresh_database):
    with (
        psycopg.connect(fresh_database) as other,
        psycopg.connect(fresh_database, autocommit=True) as db,
    ):
        other.execute("LOCK TABLE trackers_tweet IN ACCESS EXCLUSIVE MODE")
        process = started(f"exec {MANAGE} export tweets", fresh_database)
        try:
            until(lambda: db.execute(WAITING).fetchone()[0], "it waits for the lock")
            process.send_signal(signal.SIGINT)
            assert ended(process) == (130, "Interrupted.\n")
        finally:
            process.kill()


def test_an_export_shows_its_progress_only_at_a_terminal(fresh_database, tmp_path):
    with psycopg.connect(fresh_database, autocommit=True) as db:
        db.execute(
            "INSERT INTO trackers_tweet (id, tracked_at, came_from, paused, missing_reason,"
            " measurements) SELECT n, now(), '', false, '', 0 FROM generate_series(1, 20) n"
        )
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    with (tmp_path / "tweets.jsonl").open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "export", "tweets"],
            cwd=PROJECT,
            env={**os.environ, "DATABASE_URL": fresh_database},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=theirs,
        )
    os.close(theirs)
    seen = b""
    with suppress(OSError):
        while more := os.read(ours, 4096):
            seen += more
    os.close(ours)

    assert process.wait(60) == 0
    assert b"20.0 lines" in seen
    assert len((tmp_path / "tweets.jsonl").read_text().splitlines()) == 20
