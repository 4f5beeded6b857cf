"""A primary, two standbys, a product and its readers."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import requests
from django.contrib.auth.hashers import PBKDF2PasswordHasher

from tests.api.server import TOKEN, serving
from tests.flows.conftest import Product, wait_until
from tests.postgres_server import PostgresServer

PASSWORD = "a-long-password-of-ada"
# As the server has it; tests have a quicker one.
ENCODED = PBKDF2PasswordHasher().encode(PASSWORD, "salt", iterations=1000)
TWEETS = 3


def text(number):
    return f"text number {number}"


def url_of(*servers, how=""):
    hosts = ",".join(f"127.0.0.1:{server.port}" for server in servers)
    return f"postgres://tw@{hosts}/tw{how}"


class Reader:
    """A person with a browser, or a program with a token."""

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"
        self.session = requests.Session()
        self.session.headers["Host"] = "localhost"

    def get(self, path, **headers):
        return self.session.get(f"{self.url}{path}", headers=headers, timeout=60)

    def post(self, path, page, **values):
        """A form of that page."""
        [token, *_] = re.findall('name="csrfmiddlewaretoken" value="([^"]+)"', self.get(page).text)
        return self.session.post(
            f"{self.url}{path}", {**values, "csrfmiddlewaretoken": token}, timeout=60
        )

    def sign_in(self):
        answer = self.post("/login/", "/login/", username="ada", password=PASSWORD)
        assert "/login/" not in answer.url
        return self

    def in_api(self, path):
        return self.get(f"/api/v1{path}", Authorization=f"Bearer {TOKEN}")

    def text_in_api(self, id):
        answer = self.in_api(f"/tweets/{id}")
        assert answer.status_code == 200, answer.text
        return answer.json()["text"]

    def text_on_page(self, id):
        answer = self.get(f"/tweets/{id}/")
        assert answer.status_code == 200, answer.text
        return re.search("text number [0-9]+", answer.text)[0]

    def standby(self):
        answer = self.get("/readyz")
        assert answer.status_code == 200
        return answer.json().get("standby")


class Ground:
    """A primary, two standbys, a product with three tweets, and a cluster that beats."""

    def __init__(self, stack, x, logs):
        self.stack, self.logs = stack, logs
        self.primary, *self.standbys = (
            PostgresServer(stack.enter_context(TemporaryDirectory())) for _ in range(3)
        )
        for server in (*self.standbys, self.primary):
            stack.callback(server.stop)
        self.primary.create()
        for standby in self.standbys:
            standby.follow(f"host=127.0.0.1 port={self.primary.port}")
        self.read_url = url_of(*self.standbys)
        self.product = Product(url_of(self.primary), x, logs)
        self.product.environment["DATABASE_READ_URL"] = self.read_url
        stack.callback(self.product.end)
        migrated = self.product.manage("migrate")
        assert migrated.returncode == 0, migrated.stderr
        self.ids = x.ids(TWEETS)
        given = "\n".join(map(str, self.ids))
        assert self.product.manage_json("track", "-", "--yes", stdin=given)["tracked"] == TWEETS
        self.product.start_cluster(workers=1)

    @contextmanager
    def web(self, database=None, **settings):
        """Once the standby is read."""
        self.log = self.logs / "web.log"
        given = {"DATABASE_READ_URL": self.read_url, "LOG_LEVEL": "INFO", **settings}
        with serving(database or url_of(self.primary), self.log, **given) as server:
            self.product.sql("UPDATE auth_user SET password = %s", ENCODED)
            reader = Reader(server.port)
            wait_until(lambda: reader.standby() == "read", what="the standby is read")
            yield server.port
        # The next server makes its own.
        self.product.sql("TRUNCATE auth_user CASCADE")

    def write(self, number):
        """Behind the back of the programs, who then have seen nothing of it."""
        self.product.sql(
            "INSERT INTO trackers_tweettext (tweet_id, text, lang, edit_history)"
            " SELECT id, %s, '', '{}' FROM trackers_tweet"
            " ON CONFLICT (tweet_id) DO UPDATE SET text = excluded.text",
            text(number),
        )

    def read_both(self, port):
        """Which standby a connection leads to is chance: made anew until each is read."""

        def are_both_read():
            with ThreadPoolExecutor(4) as threads:
                ids = self.ids[:1] * 16
                assert all(threads.map(lambda id: Reader(port).text_in_api(id), ids))
            if all(readers_of(standby) for standby in self.standbys):
                return True
            for standby in self.standbys:
                readers_of(standby, end=True)
            return False

        wait_until(are_both_read, what="both standbys are read")

    def logged(self, sentence):
        return self.log.read_text().count(sentence)

    def pause(self, *standbys):
        """They have all that the primary has, and nothing more comes."""
        for standby in standbys:
            wait_until(lambda: is_as_far(self.primary, standby), what="the standby has it all")  # noqa: B023
            with standby.connect() as admin:
                admin.execute("SELECT pg_wal_replay_pause()")
            wait_until(lambda: is_paused(standby), what="it is paused")  # noqa: B023

    def go_on(self, *standbys):
        for standby in standbys:
            with standby.connect() as admin:
                admin.execute("SELECT pg_wal_replay_resume()")


def transactions_of(server):
    with server.connect() as admin:
        [[count]] = admin.execute(
            "SELECT xact_commit FROM pg_stat_database WHERE datname = 'tw'"
        ).fetchall()
    return count


def readers_of(server, *, end=False):
    """How many connections of the product there are."""
    with server.connect() as admin:
        what = "pg_terminate_backend(pid)" if end else "pid"
        return len(
            admin.execute(
                f"SELECT {what} FROM pg_stat_activity"
                " WHERE datname = 'tw' AND application_name = 'tweetwatch'"
            ).fetchall()
        )


def is_as_far(primary, standby):
    with primary.connect() as one, standby.connect() as two:
        [[lsn]] = one.execute("SELECT pg_current_wal_lsn()").fetchall()
        [[is_there]] = two.execute("SELECT pg_last_wal_replay_lsn() >= %s", (lsn,)).fetchall()
    return is_there


def is_paused(standby):
    with standby.connect() as admin:
        [[state]] = admin.execute("SELECT pg_get_wal_replay_pause_state()").fetchall()
    return state == "paused"
