"""Searches that nobody waits for any more, by the real web server and the real PostgreSQL."""

import socket
import time

import psycopg
import pytest

from tests.flows.conftest import wait_until
from tests.flows.test_import import Web

pytestmark = pytest.mark.django_db

RUNNING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()
      AND query LIKE '%%trackers_tweettext%%'
"""


@pytest.fixture
def web(product):
    made = Web(product)
    yield made
    made.end()


@pytest.fixture
def slow_texts(fresh_database):
    """Whoever reads a text waits, until the test is over."""
    with psycopg.connect(fresh_database) as db:
        db.execute("LOCK TABLE trackers_tweettext IN ACCESS EXCLUSIVE MODE")
        yield


def ask_and_go(web, words):
    """A browser that types on: it closes the connection of the former letter's search."""
    host, port = web.at.split(":")
    cookies = "; ".join(f"{name}={value}" for name, value in web.session.cookies.items())
    with socket.create_connection((host, int(port)), timeout=10) as browser:
        browser.sendall(
            f"GET /tweets/?q={words} HTTP/1.1\r\nHost: {web.at}\r\n"
            f"Cookie: {cookies}\r\n\r\n".encode()
        )


def test_abandoned_searches_end_and_keep_the_site_responsive(product, web, slow_texts):
    for turn in range(60):
        ask_and_go(web, f"letters{turn}")
    began = time.monotonic()
    other = web.session.get(f"{web.url}/sources/", timeout=60)
    took = time.monotonic() - began

    assert other.ok
    # Two searches at once for a second each; sixty of them are thirty seconds.
    assert took < 10
    wait_until(lambda: product.value(RUNNING) == 0, within=10, what="no search is running")
    # Also with somebody who waits.
    page = web.session.get(f"{web.url}/tweets/?q=letters", timeout=60)
    assert "took longer than a second" in page.text
    assert product.value(RUNNING) == 0


def test_searches_of_ten_tabs_keep_the_site_responsive(product, web, slow_texts):
    host, port = web.at.split(":")
    cookies = "; ".join(f"{name}={value}" for name, value in web.session.cookies.items())
    tabs = []
    for turn in range(10):
        tab = socket.create_connection((host, int(port)), timeout=60)
        tab.sendall(
            f"GET /tweets/?q=letters{turn} HTTP/1.1\r\nHost: {web.at}\r\nCookie: {cookies}\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        tabs.append(tab)
    wait_until(lambda: product.value(RUNNING) > 0, what="a search is running")
    most = 0
    answers = []
    while len(answers) < len(tabs):
        most = max(most, product.value(RUNNING))
        answers = [tab for tab in tabs if has_answer(tab)]
        time.sleep(0.02)
    sentence = [read_all(tab) for tab in tabs]

    assert 1 <= most <= 2
    assert all(
        "took longer than a second" in one or "Too many searches are running" in one
        for one in sentence
    )
    assert product.value(RUNNING) == 0


def has_answer(tab):
    tab.setblocking(False)
    try:
        return bool(tab.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False
    finally:
        tab.settimeout(60)


def read_all(tab):
    with tab, tab.makefile("rb") as answer:
        return answer.read().decode()
