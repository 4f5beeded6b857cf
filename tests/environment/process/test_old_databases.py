"""A database of before 1.0 is refused by all that would begin on it, in one sentence."""

import os
import subprocess
import sys
from hashlib import sha256

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from tests.conftest import PROJECT
from trackers.backups.file import Manifest
from tweetwatch.schema import OLD_MIGRATION

SAID = "This database was made before tweetwatch 1.0, which cannot use it: "
MANAGE = [sys.executable, "manage.py"]
GUNICORN = [sys.executable, "-m", "gunicorn", "--bind=127.0.0.1:0", "--no-control-socket"]


@pytest.fixture
def old_database(fresh_database):
    with psycopg.connect(fresh_database, autocommit=True) as db:
        db.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, now())",
            OLD_MIGRATION,
        )
    return fresh_database


@pytest.mark.django_db
def test_no_command_starts_on_a_database_of_before_1_0(old_database):
    starts = [
        *([*MANAGE, command] for command in ("migrate", "qcluster", "stream", "deliver", "bus")),
        *([*MANAGE, command] for command in ("status", "createsuperuser")),
        *([*GUNICORN, application] for application in ("tweetwatch.wsgi", "tweetwatch.bus_wsgi")),
    ]
    processes = [
        subprocess.Popen(
            start,
            cwd=PROJECT,
            env={**os.environ, "DATABASE_URL": old_database},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for start in starts
    ]
    output = [process.communicate(timeout=120)[0] for process in processes]

    assert [process.returncode for process in processes] == [1] * 7 + [3] * 2, output
    for text in output[:7]:
        assert text.startswith(SAID)
        assert text.count("\n") == 1
    for text in output[7:]:
        [line] = [line for line in text.splitlines() if SAID in line]
        assert "Traceback" not in text
        assert "CRITICAL" in line
    with psycopg.connect(old_database) as db:
        [(rows,)] = db.execute("SELECT count(*) FROM trackers_worker").fetchall()
        assert rows == 0


def test_no_backup_of_before_1_0_is_restored(tmp_path):
    content = b"PGDMP"
    manifest = Manifest(
        timezone.now(), "1.0.0", 18, 18, [".".join(OLD_MIGRATION)], "public", {}, [], [], [],
        0, len(content), sha256(content).hexdigest(),
    )  # fmt: skip
    file = tmp_path / "old.dump"
    file.write_bytes(content + b"\n" + manifest.line() + b"\n")

    with pytest.raises(CommandError, match=r"The backup was made before tweetwatch 1\.0"):
        call_command("restore", str(file), "--check")
