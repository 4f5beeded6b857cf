"""The whole product as a person runs it: commands, clusters, a fake X, each a real process."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import psutil
import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.db.utils import ConnectionHandler
from environ import Env

from tests.conftest import PROJECT, FakeX
from tests.flows.backups import empty_database

LINES_SHOWN = 200
BEARER = "planted-Bearer+Token/0123456789="


# django-q2's scheduler looks every half minute; this one ticks faster, as further clusters would.
SCHEDULER = """
import time
from django_q.scheduler import scheduler
while True:
    scheduler()
    time.sleep(0.5)
"""

# Seconds. Long enough for the retries that a busy machine brings with it: a request that was not
# answered in the two seconds that a flow allows is repeated after 5, 10 and 20 more.
PATIENCE = 90


def wait_until(fact, *, within=PATIENCE, what):
    """The fact's first true value; fails with `what` when there is none in so many seconds."""
    end = time.monotonic() + within
    while (began := time.monotonic()) < end:
        if value := fact():
            return value
        # A look may be dear, as one at all of X's log: what is waited for needs the machine too.
        time.sleep(min(1.0, max(0.05, 2 * (time.monotonic() - began))))
    pytest.fail(f"after {within} s still not: {what}")


def lives(pid):
    """A zombie does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class Product:
    """One installation: its database, its X, and the processes that were started for it."""

    def __init__(self, database, x, logs):
        self.x, self.logs, self.clusters = x, logs, []
        self.url = database
        self.database = self.connect()
        self.environment = {
            **os.environ,
            "DATABASE_URL": database,
            "X_API_BASE_URL": x.url,
            "REQUEST_TIMEOUT": "3",
            "TASK_TIMEOUT": "6",
            "LOG_LEVEL": "DEBUG",
        }

    def connect(self):
        return psycopg.connect(self.url, autocommit=True)

    def sql(self, query, *values):
        with self.database.cursor() as cursor:
            cursor.execute(query, values)
            return cursor.fetchall() if cursor.description else None

    def value(self, query, *values):
        return self.sql(query, *values)[0][0]

    def manage(self, *arguments, stdin=""):
        return subprocess.run(
            [sys.executable, "manage.py", *map(str, arguments)],
            cwd=PROJECT,
            env=self.environment,
            input=stdin,
            text=True,
            capture_output=True,
            timeout=120,
        )

    def manage_json(self, *arguments, stdin=""):
        done = self.manage(*arguments, "--json", stdin=stdin)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def call(self, *arguments, stdin=""):
        """A command as `manage` does it, for what a test only begins with: in this process, since
        to start Python takes a processor longer than most commands. The output, if not as JSON."""
        output, entered = io.StringIO(), io.TextIOWrapper(io.BytesIO(stdin.encode()))
        with self.inside(), pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", entered)
            call_command(*map(str, arguments), stdout=output, stderr=io.StringIO())
        return json.loads(output.getvalue()) if "--json" in arguments else output.getvalue()

    @contextmanager
    def inside(self):
        """Django's connection of this process leads to the product's database meanwhile."""
        default = settings.DATABASES["default"]
        config = Env.db_url_config(self.url)
        options = {**default["OPTIONS"], **config.pop("OPTIONS", {})}
        config |= {"ENGINE": "tweetwatch.database_backend", "OPTIONS": options}
        ours, there = connections["default"], ConnectionHandler({"default": {**default, **config}})
        connections["default"] = there["default"]
        try:
            yield
        finally:
            there.close_all()
            connections["default"] = ours

    def status(self):
        return self.manage_json("status")

    def give_credential(self, name="main", secret=BEARER):
        secrets = json.dumps({"bearer_token": secret})
        self.call("credential", "add", name, "--kind", "bearer", stdin=secrets)

    def track(self, ids):
        """Keep these tweets fresh."""
        counts = self.call("track", "-", "--json", "--yes", stdin="\n".join(map(str, ids)))
        assert counts["tracked"] == len(ids)

    def start_cluster(self, workers=2, **environment):
        log = (self.logs / f"cluster{len(self.clusters)}.log").open("wb")
        cluster = subprocess.Popen(
            [sys.executable, "manage.py", "qcluster"],
            cwd=PROJECT,
            env=self.environment | {"WORKERS": str(workers)} | environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        log.close()
        self.clusters.append(cluster)
        return cluster

    def processes(self, kind, cluster=None):
        """The pids of a kind of process, oldest first, that live."""
        rows = self.sql(
            "SELECT pid FROM trackers_worker WHERE kind = %s ORDER BY started_at, pid", kind
        )
        family = None
        if cluster is not None and lives(cluster.pid):
            children = psutil.Process(cluster.pid).children(recursive=True)
            family = {cluster.pid, *(child.pid for child in children)}
        return [pid for (pid,) in rows if lives(pid) and (family is None or pid in family)]

    def wait_for(self, kind, count=1, cluster=None):
        return wait_until(
            lambda: len(found := self.processes(kind, cluster)) >= count and found,
            what=f"{count} {kind} processes told of themselves",
        )

    def stop(self, cluster, within=20):
        cluster.send_signal(signal.SIGTERM)
        return cluster.wait(within)

    def end(self):
        for cluster in self.clusters:
            with suppress(ProcessLookupError):
                os.killpg(cluster.pid, signal.SIGKILL)
            cluster.wait(10)
        self.database.close()

    # The books, from the fake's log and not from our own figures.

    def answered(self):
        """How many times X gave figures of a tweet."""
        return sum(len(figures(entry)) for entry in self.x.log())

    def recorded(self):
        """How many measurements the samples hold."""
        return self.value(
            "SELECT (SELECT coalesce(sum(measurements), 0) FROM trackers_tweet)"
            " + (SELECT coalesce(sum(measurements), 0) FROM trackers_sample)"
        )


def figures(entry):
    """The figures that one logged request answered with, by id."""
    if not entry["endpoint"].endswith(("/tweets", "/lookup")) or entry["status"] != 200:
        return {}
    return {int(id): said for id, said in entry["answers"].items() if isinstance(said, dict)}


@pytest.fixture
def own_fakex(tmp_path):
    """A fake X that nobody else asks: its log is this test's alone."""
    started = []

    def start(*options, tweets=100_000, clock_speed=1):
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "fakex", "--port", "0", "--seed", "11"),
                *("--tweets", str(tweets), "--clock-speed", str(clock_speed), *options),
            ],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        x = FakeX(process.stdout.readline().split()[-1])
        x.reset()
        return x

    yield start
    for process in started:
        process.kill()
        process.wait(10)
        process.stdout.close()


@pytest.fixture
def product(fresh_database, own_fakex, tmp_path):
    made = Product(fresh_database, own_fakex(), tmp_path)
    yield made
    made.end()
    # Pytest shows this with a test that failed.
    for log in sorted(tmp_path.glob("*.log")):
        print(f"--- the end of {log.name}", *log.read_text().splitlines()[-LINES_SHOWN:], sep="\n")


@pytest.fixture
def scheduling(product):
    """Starts a scheduler that ticks every half second."""
    started = []

    def start():
        started.append(
            subprocess.Popen(
                [sys.executable, "manage.py", "shell", "-v", "0", "-c", SCHEDULER],
                cwd=PROJECT,
                env=product.environment,
                stdin=subprocess.DEVNULL,
            )
        )

    yield start
    for process in started:
        process.kill()
        process.wait(10)


@pytest.fixture
def elsewhere(django_db_setup, django_db_blocker):
    with empty_database(django_db_blocker) as url:
        yield url
