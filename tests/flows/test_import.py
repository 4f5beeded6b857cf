"""A file by the whole product: uploaded to the web server, imported by clusters that die."""

import gzip
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import psutil
import psycopg
import pytest
import requests

from tests.conftest import PROJECT
from tests.flows.conftest import wait_until
from tests.ingest.files.uploads import v2_lines

pytestmark = pytest.mark.django_db

# `IMPORT_LINES=1000000` tells the time and the memory of a million.
LINES = int(os.environ.get("IMPORT_LINES", "20000"))
PATIENCE = max(120, LINES // 500)
LEASE = 6
PASSWORD = "a password of this test alone"
EDGE = "edge-of-a-part"
BAD_EVERY = 1000

BOOKS = """
    SELECT (SELECT count(*) FROM trackers_tweet),
           (SELECT count(*) FROM trackers_sourcetweet),
           (SELECT sum(measurements) FROM trackers_tweet),
           (SELECT count(*) FROM trackers_sample),
           (SELECT count(*) FROM trackers_importpart),
           (SELECT count(*) FROM trackers_importjob)
"""


class Web:
    """gunicorn as the demo starts it, and a person of the staff in front of it."""

    def __init__(self, product):
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.at = f"127.0.0.1:{free.getsockname()[1]}"
        self.url = f"http://{self.at}"
        who = f"User.objects.create_superuser('ada', '', '{PASSWORD}')"
        made = product.manage("shell", "-c", f"from django.contrib.auth.models import User; {who}")
        assert made.returncode == 0, made.stderr
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "gunicorn", "tweetwatch.wsgi", "--no-control-socket"),
                *("--bind", self.at, "--threads", "4"),
            ],
            cwd=PROJECT,
            env=product.environment | {"HTTPS": "false", "DATABASE_POOL": "true"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.session = requests.Session()
        self.session.trust_env = False
        wait_until(self.answers, what="the web server answers")
        fields = {
            "username": "ada",
            "password": PASSWORD,
            "next": "/sources/import/",
            **self.token(),
        }
        assert self.session.post(f"{self.url}/login/", fields).ok

    def answers(self):
        try:
            return self.session.get(f"{self.url}/login/", timeout=PATIENCE).ok
        except requests.ConnectionError:
            return False

    def token(self):
        return {"csrfmiddlewaretoken": self.token_cookie()}

    def token_cookie(self):
        cookies = self.session.cookies.items()
        return next(value for name, value in cookies if name.startswith("tweetwatch_csrf_"))

    def upload(self, body):
        """The address of the report, of a form's body that lies on the disk."""
        with body.open("rb") as file:
            reply = self.session.post(
                f"{self.url}/sources/import/",
                data=file,
                headers={
                    "Content-Type": f"multipart/form-data; boundary={EDGE}",
                    "X-CSRFToken": self.token_cookie(),
                },
                timeout=PATIENCE,
                allow_redirects=False,
            )
        assert reply.status_code == 302, reply.text
        return self.url + reply.headers["Location"]

    def start_import(self, address):
        assert self.session.post(address, {"act": "start", **self.token()}).ok

    def page(self, address):
        return re.sub(r"<[^>]+>", "", self.session.get(address).text)

    def end(self):
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)


@pytest.fixture
def web(product):
    made = Web(product)
    yield made
    made.end()


def form(directory, lines, *, packed=False):
    """A form with a file of so many lines, of which one in a thousand is bad, on the disk."""
    path = directory / "form"
    head = f'--{EDGE}\r\nContent-Disposition: form-data; name="file"; filename="many.jsonl"\r\n\r\n'
    with path.open("wb") as body:
        body.write(head.encode())
        file = gzip.GzipFile(fileobj=body, mode="wb", compresslevel=1) if packed else body
        for n, line in enumerate(v2_lines(lines)):
            file.write(b'{"id": \n' if n % BAD_EVERY == BAD_EVERY - 1 else line.encode())
        if packed:
            file.close()
        body.write(f"\r\n--{EDGE}--\r\n".encode())
    return path


def most_memory(process):
    """The most that the kernel saw of any process of a family, in MB."""
    root = psutil.Process(process.pid)
    most = 0
    for one in (root, *root.children(recursive=True)):
        with suppress(OSError):
            said = Path(f"/proc/{one.pid}/status").read_text()
            most = max(most, int(re.search(r"VmHWM:\s+(\d+)", said)[1]) / 1024)
    return most


def wait_for_the_end(product):
    wait_until(
        lambda: product.value("SELECT ended_at IS NOT NULL FROM trackers_import"),
        within=PATIENCE,
        what="the import is done",
    )


def check_the_books(product, lines):
    bad = lines // BAD_EVERY
    good = lines - bad
    assert product.sql(BOOKS) == [(good, good, good, 0, 0, 0)]
    counts = "SELECT read, tracked, already, rejected, parts_done = parts FROM trackers_import"
    assert product.sql(counts) == [(lines, good, 0, bad, True)]
    rejected = [
        line for (line,) in product.sql("SELECT line FROM trackers_rejectedline ORDER BY 1")
    ]
    assert rejected == list(range(BAD_EVERY, lines + 1, BAD_EVERY))[:1000]


@pytest.mark.timeout(PATIENCE * 4)
@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(False, id="plain"),
        pytest.param(True, id="packed", marks=pytest.mark.more),
    ],
)
def test_a_file_of_many_lines_is_imported_in_little_memory(product, web, tmp_path, capsys, packed):
    body = form(tmp_path, LINES, packed=packed)
    cluster = product.start_cluster(workers=2)
    product.wait_for("worker", 2)
    before = most_memory(web.process)

    began = time.monotonic()
    address = web.upload(body)
    uploaded = time.monotonic() - began
    assert "This looks like JSON with one value per line (JSONL)" in web.page(address)
    began = time.monotonic()
    web.start_import(address)
    wait_for_the_end(product)
    imported = time.monotonic() - began

    of_web, of_cluster = most_memory(web.process), most_memory(cluster)
    with capsys.disabled():
        print(
            f"\n{LINES:,} lines in {body.stat().st_size / 1e6:,.0f} MB: uploaded in"
            f" {uploaded:.1f} s, imported in {imported:.1f} s by 2 workers; web {of_web:.0f} MB"
            f" (before {before:.0f}), cluster {of_cluster:.0f} MB"
        )
    check_the_books(product, LINES)
    page = web.page(address)
    assert f"Tracked{LINES - LINES // BAD_EVERY:,}" in re.sub(r"\s+", "", page)
    assert of_web < 300
    assert of_cluster < 300


def waiting(product):
    """The workers that wait for a lock, by their pids."""
    return product.sql(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
        " AND wait_event_type = 'Lock' AND query NOT LIKE 'LOCK%%'"
    )


# Where a part is when its worker dies: the table that it waits for, and how.
STEPS = {
    "before it is read": "LOCK TABLE trackers_importpart",
    "before the tweets": "LOCK TABLE trackers_tweet",
    "between tweets and figures": "LOCK TABLE trackers_tweettext",
    "after the tweets": "LOCK TABLE trackers_sourcetweet",
    "before the counts": "SELECT FROM trackers_import FOR UPDATE",
}


# The short suite kills where all is written but the counts.
SHORT = ("before the counts",)


@pytest.mark.parametrize(
    "step",
    [step if step in SHORT else pytest.param(step, marks=pytest.mark.more) for step in STEPS],
)
def test_killing_a_worker_anywhere_loses_and_doubles_no_line(product, web, tmp_path, step):
    product.environment |= {"REQUEST_TIMEOUT": "2", "TASK_TIMEOUT": "5"}
    product.sql("UPDATE trackers_queue SET lease = '%s s', buffer_ttl = '0'" % LEASE)  # noqa: UP031
    address = web.upload(form(tmp_path, 10_000))
    product.sql("UPDATE trackers_queue SET paused = true WHERE name = 'import:part'")
    web.start_import(address)
    product.start_cluster(workers=2)
    workers = product.wait_for("worker", 2)

    with psycopg.connect(product.environment["DATABASE_URL"]) as lock:
        lock.execute(STEPS[step])
        product.sql("UPDATE trackers_queue SET paused = false")
        wait_until(lambda: len(waiting(product)) >= 2, what="two workers at the lock")
        doing = product.sql("SELECT pid FROM trackers_worker WHERE doing LIKE '%%import:part'")
        killed = {pid for (pid,) in doing} & set(workers)
        assert killed
        for pid in killed:
            os.kill(pid, signal.SIGKILL)

    wait_for_the_end(product)
    check_the_books(product, 10_000)


@pytest.mark.more
def test_the_next_cluster_continues_the_import_of_a_killed_one(product, web, tmp_path):
    product.environment |= {"REQUEST_TIMEOUT": "2", "TASK_TIMEOUT": "5"}
    product.sql("UPDATE trackers_queue SET lease = '%s s', buffer_ttl = '0'" % LEASE)  # noqa: UP031
    address = web.upload(form(tmp_path, 40_000))
    web.start_import(address)
    done = "SELECT parts_done FROM trackers_import"

    for least in (3, 8):
        cluster = product.start_cluster(workers=2)
        wait_until(lambda least=least: product.value(done) >= least, what="some parts")
        os.killpg(cluster.pid, signal.SIGKILL)
        cluster.wait(10)
    assert product.value(done) < product.value("SELECT parts FROM trackers_import")
    product.start_cluster(workers=2)

    wait_for_the_end(product)
    check_the_books(product, 40_000)
