"""A connection that can only read is left: a standby answers for as long as one stays with it."""

from __future__ import annotations

import re

import psycopg
import pytest
import requests
from psycopg import sql

from tests.api.server import serving
from tests.chaos.ground import wait_until
from tests.databases import END_OTHERS

pytestmark = pytest.mark.django_db

READ_ONLY = "The database can only be read"


class Pages:
    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"
        self.session = requests.Session()
        self.session.headers["Host"] = "localhost"

    def readiness(self):
        answer = self.session.get(f"{self.url}/readyz", timeout=60)
        return answer.status_code, answer.json().get("reason", "")

    def sign_in(self):
        """Try to, with a password that is wrong, which is written down."""
        form = self.session.get(f"{self.url}/login/", timeout=60)
        found = re.search('name="csrfmiddlewaretoken" value="([^"]+)"', form.text)
        assert found, form.text
        given = {"username": "ada", "password": "wrong", "csrfmiddlewaretoken": found[1]}
        return self.session.post(f"{self.url}/login/", given, timeout=60)


@pytest.fixture
def pages(fresh_database, tmp_path):
    with serving(fresh_database, tmp_path / "log") as server:
        yield Pages(server.port)


def test_pages_find_the_database_that_can_be_written_again(pages, fresh_database):
    assert pages.sign_in().status_code == 200
    with psycopg.connect(fresh_database, autocommit=True) as db:
        name = sql.Identifier(db.info.dbname)
        db.execute(sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name))
        # Of those that connect from now on.
        db.execute(END_OTHERS)

        wait_until(
            lambda: READ_ONLY in pages.sign_in().text, within=60, what="a page says that it is so"
        )
        assert [pages.sign_in().status_code for _ in range(3)] == [503] * 3
        status, reason = pages.readiness()
        assert (status, READ_ONLY in reason) == (503, True)

        db.execute(sql.SQL("ALTER DATABASE {} RESET default_transaction_read_only").format(name))

    # Those that were made meanwhile could still be used, and stay as they are.
    wait_until(lambda: pages.sign_in().status_code == 200, within=60, what="a page can write")
    assert [pages.sign_in().status_code for _ in range(8)] == [200] * 8
    assert pages.readiness() == (200, "")


def test_readyz_leaves_a_database_that_can_only_be_read(pages, fresh_database):
    """A standby is asked by nobody but probes, once the load balancer has heard of it."""
    with psycopg.connect(fresh_database, autocommit=True) as db:
        name = sql.Identifier(db.info.dbname)
        db.execute(sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name))
        db.execute(END_OTHERS)
        wait_until(lambda: READ_ONLY in pages.readiness()[1], within=60, what="/readyz says so")
        db.execute(sql.SQL("ALTER DATABASE {} RESET default_transaction_read_only").format(name))

    wait_until(lambda: pages.readiness()[0] == 200, within=60, what="it is ready again")
