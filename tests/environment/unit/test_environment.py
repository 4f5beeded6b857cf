"""Values of the environment and of .env are taken as written, or refused with what to do."""

from __future__ import annotations

import os
from unittest.mock import patch

import pytest
from django.core.exceptions import ImproperlyConfigured

from tweetwatch.env_file import read_env_file
from tweetwatch.environment import Environment

KEY = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123"


@pytest.fixture
def read(tmp_path):
    """Reads these bytes as .env, into an empty environment."""

    def read(content):
        (tmp_path / ".env").write_bytes(content)
        read_env_file(tmp_path / ".env")
        return Environment()

    with patch.dict(os.environ, clear=True):
        yield read


def database(url, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", url)
    return Environment().database("DATABASE_URL")


@pytest.mark.parametrize("key", [f"${KEY}", f"ab$HOME{KEY}", f"ab#cd{KEY}", f"ab #cd{KEY}"])
@pytest.mark.parametrize("quote", ["", '"', "'"], ids=["bare", "double", "single"])
def test_a_key_with_dollars_and_hashes_is_read_as_written(read, key, quote):
    env = read(f"SECRET_KEY={quote}{key}{quote}\n".encode())

    assert env.secret_key() == key


def test_a_dollar_before_numbers_and_lists_is_no_other_variable(read):
    env = read(b"WORKERS=$FOUR\nFOUR=4\nALLOWED_HOSTS=$a,b\n")

    assert env.list("ALLOWED_HOSTS") == ["$a", "b"]
    with pytest.raises(ImproperlyConfigured, match=r"WORKERS is '\$FOUR', not a whole number"):
        env.number("WORKERS", default=1, least=1, most=9)


def test_the_mark_of_windows_editors_and_their_line_ends_are_left_out(read):
    env = read(b"\xef\xbb\xbfSECRET_KEY=" + KEY.encode() + b"\r\nHTTPS=false\r\n")

    assert env.secret_key() == KEY
    assert env.truth("HTTPS", default=True) is False


def test_comments_may_be_in_latin_1(read):
    assert read(b"# f\xfcr uns\nSECRET_KEY=" + KEY.encode()).secret_key() == KEY


def test_a_value_that_is_not_utf_8_is_named_by_its_line(read):
    with pytest.raises(ImproperlyConfigured) as refused:
        read(b"# f\xfcr uns\n\nEMAIL_FROM=f\xfcr@uns.example\n")

    assert "Line 3 of" in str(refused.value)
    assert "Save the file as UTF-8" in str(refused.value)


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("postgres://u:secret?x@h/db", "? is %3F"),
        ("postgres://u:secret/x@h/db", "/ is %2F"),
        ("postgresql+psycopg://u:secret@h/db", "write postgres"),
        ("postgresql+asyncpg://u:secret@h/db", "write postgres"),
        ("mysql://u:secret@h/db", "only PostgreSQL is supported"),
        ("postgres://u:secret@h/db?pgbouncer=true", "DATABASE_PREPARE=false"),
        ("postgres://u:secret@h/db?schema=tw", "?options=-c%20search_path%3DNAME"),
        ("postgres://u:secret@h/db?currentSchema=tw", "?options=-c%20search_path%3DNAME"),
        ("postgres://u:secret@h/db?connection_limit=5", "does not know"),
        ("postgres://u:secret@h/", "names no database"),
    ],
)
def test_a_database_address_that_cannot_work_says_what_to_write(url, fault, monkeypatch):
    with pytest.raises(ImproperlyConfigured) as refused:
        database(url, monkeypatch)

    assert fault in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "password", "options"),
    [
        ("postgres://u:p#x@h/db", "p#x", {}),
        ("postgres://u:p@x@h/db", "p@x", {}),
        ("postgres://u:$ecret$HOME@h/db", "$ecret$HOME", {}),
        ("postgres://u:p+x@h/db", "p+x", {}),
        ("postgres://u:p%3Fx@h/db", "p?x", {}),
        ("postgres://u:p@h/db?sslmode=require", "p", {"sslmode": "require"}),
        (
            "postgres://u:p@a:5432,b:5433/db?target_session_attrs=read-write",
            "p",
            {"target_session_attrs": "read-write"},
        ),
    ],
)
def test_a_database_address_is_read_as_postgresql_reads_it(url, password, options, monkeypatch):
    config = database(url, monkeypatch)

    assert (config["PASSWORD"], config.get("OPTIONS", {})) == (password, options)
