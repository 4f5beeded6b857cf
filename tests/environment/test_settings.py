"""A missing or bad variable stops the start with a sentence that says which, and how to set it."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conftest import PROJECT

START = "import tweetwatch.settings as s; print('started', s.X_API_BASE_URL, s.DATABASES)"
KEY = "x" * 50
FERNET = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
GOOD = {"SECRET_KEY": KEY, "FIELD_KEYS": FERNET}


def start(**variables):
    return subprocess.run(
        [sys.executable, "-c", START],
        cwd=PROJECT,
        env={"PATH": os.environ["PATH"], **GOOD, **variables},
        capture_output=True,
        text=True,
        timeout=30,
    )


BAD = [
    ("SECRET_KEY", "", "is missing"),
    ("SECRET_KEY", "short", "too short"),
    ("FIELD_KEYS", "", "is missing"),
    ("FIELD_KEYS", " , ", "is missing"),
    ("FIELD_KEYS", "not-a-key", "place 1"),
    ("FIELD_KEYS", f"{FERNET},ünï", "place 2"),
    ("DEBUG", "maybe", "neither true nor false"),
    ("HTTPS", "2", "neither true nor false"),
    ("BEHIND_PROXY", "x", "neither true nor false"),
    ("DATABASE_POOL", "x", "neither true nor false"),
    ("WORKERS", "0", "whole number from 1"),
    ("WORKERS", "four", "whole number"),
    ("WORKERS", "--4", "whole number"),
    ("WORKERS", "²", "whole number"),
    ("WORKERS", "1.5", "whole number"),
    ("TASK_TIMEOUT", "", "whole number"),
    ("REQUEST_TIMEOUT", "soon", "number of seconds"),
    ("REQUEST_TIMEOUT", "nan", "not from"),
    ("REQUEST_TIMEOUT", "inf", "not from"),
    ("REQUEST_TIMEOUT", "0", "not from"),
    ("REQUEST_TIMEOUT", "30", "shorter than TASK_TIMEOUT"),
    ("CONFIRM_GONE_AFTER", "-1", "not from"),
    ("GONE_EVERY", "5", "not from"),
    ("LATE_TIMELINES", "-1", "not from"),
    ("LATE_SEARCH", "soon", "number of seconds"),
    ("OVERLAP_EVERY", "5", "not from"),
    ("OVERLAP_DEPTH", "9999999", "not from"),
    ("SAMPLE_RETENTION_DAYS", "-1", "whole number"),
    ("X_API_BASE_URL", "api.x.com", "not an address"),
    ("X_API_BASE_URL", "ftp://api.x.com", "not an address"),
    ("X_API_BASE_URL", "https://api.x.com/2", "not an address"),
    ("X_API_BASE_URL", "https://api.x.com?x=1", "not an address"),
    ("X_API_BASE_URL", "https://someone:hush@api.x.com", "not an address"),
    ("X_API_BASE_URL", "http://[::1", "not an address"),
    ("X_API_BASE_URL", "http://api.x.com:port", "not an address"),
    ("DATABASE_URL", "sqlite:///db.sqlite3", "only PostgreSQL"),
    ("DATABASE_URL", "postgres://someone:hush@host:5432/", "names no database"),
    ("DATABASE_URL", "postgres://someone:hush@host:port/name", "DATABASE_URL"),
    ("DATABASE_URL", "postgres://someone:hush@[::1/name", "DATABASE_URL"),
    ("LOG_LEVEL", "LOUD", "LOG_LEVEL"),
    ("METRICS_KEY", "short", "METRICS_KEY"),
]


@pytest.fixture(scope="module")
def starts():
    """Each bad value tried, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        said = pool.map(lambda case: start(**{case[0]: case[1]}), BAD)
        return dict(zip([case[:2] for case in BAD], said, strict=True))


@pytest.mark.parametrize(("name", "value", "why"), BAD)
def test_a_bad_variable_stops_the_start_with_a_sentence(starts, name, value, why):
    tried = starts[name, value]

    assert tried.returncode != 0
    last = tried.stderr.strip().splitlines()[-1]
    assert last.startswith("django.core.exceptions.ImproperlyConfigured: ")
    assert name in last
    assert why in last
    assert "hush" not in tried.stderr
    assert FERNET not in tried.stderr


def test_good_variables_start():
    tried = start(
        X_API_BASE_URL="http://127.0.0.1:9100/",
        DATABASE_URL="postgres://postgres@/name?host=%2Ftmp%2Fsocket",
        REQUEST_TIMEOUT="1.5",
        WORKERS=" 2 ",
        DEBUG="Yes",
        LOG_LEVEL="debug",
    )

    assert tried.returncode == 0, tried.stderr
    assert "started http://127.0.0.1:9100 " in tried.stdout
    assert "'host': '/tmp/socket'" in tried.stdout


def test_without_a_database_url_the_embedded_server_is_used():
    assert "tweetwatch.embedded_backend" in start().stdout


def test_time_outs_are_added_to_the_options_of_the_url_and_pgbouncer_gets_no_prepared_ones():
    url = "postgres://u:p@h/d?options=-c%20search_path%3Dours"

    ran = start(DATABASE_URL=url, DATABASE_STATEMENT_TIMEOUT="15", DATABASE_PREPARE="false")

    assert "-c search_path=ours -c idle_in_transaction_session_timeout=60s" in ran.stdout
    assert "-c statement_timeout=15s" in ran.stdout
    assert "'prepare_threshold': None" in ran.stdout
