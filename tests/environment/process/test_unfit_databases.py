"""What serves waits for a database that is older than the program, or no longer meant for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.db.backends.signals import connection_created

from tests.alerts.mail_servers import free_port
from tests.conftest import PROJECT
from tests.databases import url_of
from tweetwatch import schema

OLDER = "The database lacks a migration of this version of tweetwatch. Run manage.py migrate"
NEWER = "The database was migrated by a newer tweetwatch"
MANAGE = [sys.executable, "manage.py"]
LAST = ("trackers", "0004_rules")
REDEFINE = (
    "CREATE OR REPLACE FUNCTION trackers_oldest_program() RETURNS int"
    " LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN {}"
)


class Started:
    """The programs that serve, on one database."""

    def __init__(self, url, folder):
        self.url, self.folder, self.processes = url, folder, {}
        self.ports = {"web": free_port(), "bus": free_port()}
        gunicorn = [sys.executable, "-m", "gunicorn", "--no-control-socket"]
        self.start("web", *gunicorn, f"--bind=127.0.0.1:{self.ports['web']}", "tweetwatch.wsgi")
        self.start("bus", *MANAGE, "bus", f"--bind=127.0.0.1:{self.ports['bus']}", "--workers=1")
        for command in ("qcluster", "stream", "deliver"):
            self.start(command, *MANAGE, command)

    def start(self, name, *command):
        with (self.folder / name).open("w") as log:
            self.processes[name] = subprocess.Popen(
                command,
                cwd=PROJECT,
                env={**os.environ, "DATABASE_URL": self.url, "HTTPS": "false", "WORKERS": "1"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def log_text(self, name):
        return (self.folder / name).read_text()

    def ask(self, name, path):
        """Status and text of what a web server answers; (0, "") if there is none yet."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.ports[name]}{path}")
        # Without these nobody looks at the database.
        request.add_header("Authorization", "Basic bm9ib2R5Og==" if name == "bus" else "Bearer x")
        request.add_header("Cookie", f"{settings.SESSION_COOKIE_NAME}=of-nobody")
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def is_at_work(self):
        with psycopg.connect(self.url) as db:
            [(workers,)] = db.execute("SELECT count(*) FROM trackers_worker").fetchall()
            [(listens,)] = db.execute(
                "SELECT count(*) FROM trackers_stream WHERE lease_until > now()"
            ).fetchall()
        return workers and listens

    def wait(self, fact, what):
        end = time.monotonic() + 120
        while not fact():
            assert time.monotonic() < end, (
                what,
                {name: self.log_text(name) for name in self.processes},
            )
            time.sleep(0.2)

    def end(self):
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            process.wait(60)


@pytest.mark.django_db
def test_each_program_waits_until_the_database_is_migrated_and_says_so(fresh_database, tmp_path):
    take_a_migration_back(fresh_database)
    programs = Started(fresh_database, tmp_path)
    try:
        for name in ("qcluster", "stream", "deliver"):
            programs.wait(lambda name=name: OLDER in programs.log_text(name), f"{name} says why")
        for name, path in (("web", "/"), ("web", "/api/v1/tweets"), ("bus", "/topics")):
            programs.wait(lambda name=name, path=path: programs.ask(name, path)[0], "an answer")
            status, text = programs.ask(name, path)
            assert (status, OLDER in text.replace("&#x27;", "'")) == (503, True), text
        status, text = programs.ask("web", "/readyz")
        assert (status, OLDER in text) == (503, True)
        assert all(process.poll() is None for process in programs.processes.values())
        assert not programs.is_at_work()

        migrate_again(fresh_database)

        programs.wait(programs.is_at_work, "the cluster and the stream begin")
        programs.wait(lambda: programs.ask("web", "/")[0] == 200, "the login")
        programs.wait(lambda: programs.ask("bus", "/topics")[0] == 401, "the bus")
        # What has begun works on, whatever becomes of the database.
        take_a_migration_back(fresh_database)
        assert programs.ask("web", "/")[0] == 200
    finally:
        programs.end()
        migrate_again(fresh_database)


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_only_for_newer_programs_is_waited_for(fits):
    with connection.cursor() as db:
        db.execute(REDEFINE.format(schema.PROGRAM + 1))
    schema.wait_for_fitting_database()

    for _ in range(2):
        with pytest.raises(schema.UnfitDatabaseError, match=NEWER):
            connection.ensure_connection()

    with psycopg.connect(url_of(connection.settings_dict["NAME"])) as db:
        db.execute(REDEFINE.format(schema.PROGRAM))
    connection.ensure_connection()


@pytest.fixture
def fits():
    yield
    connection_created.disconnect(dispatch_uid="unfit databases")
    with connection.cursor() as db:
        db.execute(REDEFINE.format(schema.PROGRAM))


def take_a_migration_back(url):
    with psycopg.connect(url) as db:
        db.execute("DELETE FROM django_migrations WHERE app = %s AND name = %s", LAST)


def migrate_again(url):
    with psycopg.connect(url) as db:
        db.execute(
            "INSERT INTO django_migrations (app, name, applied) SELECT %s, %s, now()"
            " WHERE NOT EXISTS (SELECT FROM django_migrations WHERE app = %s AND name = %s)",
            LAST * 2,
        )
