"""Where a run takes place: one Postgres, one X, the tweets, and the settings that make it quick."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from urllib.parse import parse_qs, unquote, urlsplit

import psycopg

from tests.conftest import PROJECT, FakeX
from tests.postgres_server import PostgresServer
from tweetwatch.embedded import database_url
from tweetwatch.embedded.place import ROLE, Place
from tweetwatch.embedded.postmaster import live_postmaster
from tweetwatch.embedded.status import keeper_pid

# Few, so that filling them takes no second; some more than the clusters need.
MOST_CONNECTIONS = 90
PLAN_DAYS = 30
JITTER = 1.05

# How late a worker may still set a hold for what was so a moment ago.
HOLDS_WITHIN = 2.0
LIFT_HOLD = """
    UPDATE trackers_queue SET held_until = NULL, held_reason = '', failures = 0
    WHERE held_reason LIKE '%402%' OR held_reason LIKE '%429%'
       OR held_reason LIKE '%tried again at%' RETURNING name
"""
# As `credential enable` does, of all but the withdrawn one, in an instant.
ENABLE = """
    WITH windows AS (
        UPDATE trackers_window SET refused = 0, cooldown_until = NULL, rejected_at = NULL
        WHERE refused > 0
    )
    UPDATE trackers_credential SET refused = 0, retry_at = NULL WHERE kind = 'bearer' RETURNING name
"""
# X knows nothing of them, as of keys that somebody has withdrawn there.
WITHDRAWN = ("consumer_key", "consumer_secret", "access_token", "access_token_secret")


@dataclass(frozen=True, slots=True)
class Pace:
    """How many tweets are kept fresh and how quickly; seconds.

    `unit`: tweets in a batch at the most. `windows`: requests that all credentials together may
    send a second, counted by `window_seconds`. `adapts`: `every` is then the longest wait.
    """

    tweets: int = 50_000
    every: int = 15
    lease: float = 6.0
    buffer_ttl: float = 0.5
    unit: int = 1000
    request_timeout: float = 2.0
    task_timeout: int = 4
    latency_ms: int = 100
    credentials: int = 10
    windows: float = 90.0
    window_seconds: int = 60
    adapts: bool = False

    @property
    def row(self):
        """The one interval, as the command reads it."""
        wait = f"{max(1, self.every // 3)}s..{self.every}s@5%" if self.adapts else f"{self.every}s"
        return f"{PLAN_DAYS}d={wait}"

    @property
    def load(self):
        """Requests a second that keep them fresh."""
        return self.tweets / 100 / self.every


def wait_until(fact, *, within, what):
    """The fact's first true value; TimeoutError says what was waited for."""
    end = time.monotonic() + within
    while not (value := fact()):
        if time.monotonic() > end:
            raise TimeoutError(f"after {within:g} s still not: {what}")
        time.sleep(0.05)
    return value


def new_folder():
    """Not under TMPDIR: the path of a socket is 107 characters at the most."""
    return mkdtemp(prefix=f"chaos-{os.getpid()}-", dir="/tmp")


class Postgres:
    """An embedded PostgreSQL of this run's own, which may be killed; the keeper brings it back.

    Everybody comes by `socket`, a link that leads to its standby after `fail_over`. `lock`: who
    holds it may count on the server, or kill it."""

    def __init__(self, directory):
        self.place = Place.at(Path(directory))
        self.socket_dir = None
        self.lock = threading.Lock()
        self.standby, self.is_standby = None, False

    def start(self):
        self.socket_dir = new_folder()
        url = database_url(self.place.directory)
        [directory] = parse_qs(urlsplit(url).query)["host"]
        self.lead_to(f"{unquote(directory)}/.s.PGSQL.5432")
        with self.connect() as admin:
            admin.execute(f"ALTER SYSTEM SET max_connections = {MOST_CONNECTIONS}")
        self.kill()
        self.wait()

    @property
    def socket(self):
        return f"{self.socket_dir}/.s.PGSQL.5432"

    def lead_to(self, socket):
        new = Path(f"{self.socket}.new")
        new.symlink_to(socket)
        new.replace(self.socket)

    def add_standby(self):
        """One that has all that the primary says is committed."""
        self.standby = PostgresServer(new_folder(), like=self.data)
        primary = Path(self.socket).readlink().parent
        self.standby.follow(f"host={primary}")
        # The standby does not know of this: it would wait for one of its own.
        with self.connect() as admin:
            admin.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            admin.execute("SELECT pg_reload_conf()")
        synchronous = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
        wait_until(lambda: self.value(synchronous), within=60, what="the standby follows")

    def fail_over(self):
        """The primary is lost, with whoever would bring it back."""
        os.kill(keeper_pid(self.place), signal.SIGKILL)
        self.kill()
        self.standby.promote()
        self.is_standby = True
        self.lead_to(self.standby.socket)

    def connect(self, user="postgres", *, to="tweetwatch"):
        return psycopg.connect(
            host=self.socket_dir, user=user, dbname=to, autocommit=True, connect_timeout=5
        )

    def wait(self, within=60):
        wait_until(self.answers, within=within, what="Postgres answers")

    def restart_standby(self):
        """It has no keeper. While processes of the killed one are ending it cannot start."""
        with suppress(subprocess.CalledProcessError):
            self.standby.start()

    def answers(self):
        if self.is_standby and self.pid() is None:
            self.restart_standby()
        try:
            with self.connect() as connection:
                connection.execute("SELECT 1")
        except psycopg.Error:
            return False
        return True

    def pid(self):
        found = live_postmaster(self.data)
        return found.pid if found else None

    @property
    def data(self):
        return self.standby.data if self.is_standby else self.place.data

    def kill(self):
        """SIGKILL the postmaster; whether there was one."""
        postmaster = live_postmaster(self.data)
        if postmaster is None:
            return False
        postmaster.kill()
        postmaster.wait(10)
        return True

    def leave(self):
        """End the server, which would else live as long as this process; also one that is about
        to start, of which there is only the keeper."""
        if keeper := keeper_pid(self.place):
            with suppress(ProcessLookupError):
                os.kill(keeper, signal.SIGTERM)
            wait_until(self.is_left, within=60, what="Postgres ended")
        if self.standby:
            self.standby.stop()
            rmtree(self.standby.folder)
        if self.socket_dir:
            rmtree(self.socket_dir)

    def is_left(self):
        return keeper_pid(self.place) is None and live_postmaster(self.place.data) is None

    def rows(self, query, *values, to="tweetwatch"):
        with self.connect(to=to) as connection:
            return connection.execute(query, values or None).fetchall()

    def value(self, query, *values):
        return self.rows(query, *values)[0][0]


@contextmanager
def fake_x(seed, tweets, *, log):
    """A fake X in a process of its own."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "fakex", "--port", "0"),
            *("--seed", str(seed), "--tweets", str(tweets)),
        ],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    try:
        x = FakeX(process.stdout.readline().split()[-1])
        x.reset()
        yield x
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()


class Ground:
    """Everything a run stands on; `prepare` fills it."""

    def __init__(self, directory, x, pace):
        self.directory, self.x, self.pace = Path(directory), x, pace
        self.postgres = Postgres(self.directory / "postgres")
        self.ids = frozenset()
        self.environment = {
            **os.environ,
            "REQUEST_TIMEOUT": f"{pace.request_timeout:g}",
            "TASK_TIMEOUT": str(pace.task_timeout),
            "CONFIRM_GONE_AFTER": "5",
            "GONE_EVERY": "60",
            "LOG_LEVEL": "INFO",
        }

    def reached(self, database, *, user=ROLE):
        """The settings of a process that reaches it and X past all relays."""
        url = f"postgres://{user}:@/{database}?host={self.postgres.socket_dir}"
        return {"DATABASE_URL": url, "X_API_BASE_URL": self.x.url}

    def manage(self, *arguments, stdin="", user=ROLE, database="tweetwatch"):
        """A command on the database itself."""
        done = subprocess.run(
            [sys.executable, "manage.py", *map(str, arguments)],
            cwd=PROJECT,
            env=self.environment | self.reached(database, user=user),
            input=stdin,
            text=True,
            capture_output=True,
            timeout=300,
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.stderr[-2000:]}")
        return done.stdout

    def prepare(self):
        pace = self.pace
        self.postgres.start()
        self.manage("migrate", "-v", "0")
        self.limit_x()
        for number in range(pace.credentials):
            secret = json.dumps({"bearer_token": f"token-{number}"})
            # Apps of one project: a window each, and one balance.
            self.manage(
                *("credential", "add", f"c{number}", "--kind", "bearer", "--project", "one"),
                stdin=secret,
            )
        self.manage("interval", "set", pace.row, "--yes")
        self.postgres.rows(
            "UPDATE trackers_queue SET lease = make_interval(secs => %s),"
            " buffer_ttl = make_interval(secs => %s), retry_first = '1s', retry_most = '2s',"
            " batch_size = least(%s, batch_size), arrivals_per_second = %s RETURNING name",
            *(pace.lease, pace.buffer_ttl, pace.unit, int(1.1 * pace.tweets / pace.every) + 1),
        )
        self.ids = frozenset(self.x.ids(pace.tweets))
        self.manage("track", "-", "--yes", stdin="\n".join(map(str, self.ids)))

    def buy_credits(self, over):
        """As a person who did: a check that succeeds ends the project's stop, and the admin's
        "lift hold" that of the queue, which some worker may have set a moment ago. `over` ends
        it."""
        # The database may just be away, or a credential wait for the reply to a request of a worker
        # that was killed, which may be under way for 90 s.
        wait_until(
            lambda: self.is_told_of_credits(over), within=120, what="the credits are told of"
        )
        end = time.monotonic() + HOLDS_WITHIN
        while time.monotonic() < end and not over.is_set():
            with suppress(psycopg.Error):
                self.postgres.rows(LIFT_HOLD)
            time.sleep(0.2)

    def withdraw_keys(self):
        """One credential more, which X answers 401 from the first request to the last."""
        secrets = json.dumps(dict.fromkeys(WITHDRAWN, "withdrawn"))
        self.manage(
            *("credential", "add", "withdrawn", "--kind", "oauth1", "--project", "one"),
            stdin=secrets,
        )

    def enable_credentials(self, over):
        """As a person who knows that X accepts them again; also after what was under way then."""
        done, end = 0.0, time.monotonic() + 120
        while done < HOLDS_WITHIN and time.monotonic() < end and not over.is_set():
            with suppress(psycopg.Error):
                self.postgres.rows(ENABLE)
                self.postgres.rows(LIFT_HOLD)
                done += 0.2
            time.sleep(0.2)

    def is_told_of_credits(self, over):
        for number in range(self.pace.credentials):
            if over.is_set():
                break
            with suppress(RuntimeError):
                self.manage("credential", "check", f"c{number}")
                return True
        return over.is_set()

    def limit_x(self):
        token = int(self.pace.windows * self.pace.window_seconds / self.pace.credentials)
        limit = {"token": token, "app": 1_000_000, "window": self.pace.window_seconds}
        self.x.put("limits", {"GET /2/tweets": limit})
        self.x.put("latency", {"ms": self.pace.latency_ms})
        self.x.put("world", {"engagement": "busy"})
        self.x.delete("log")
