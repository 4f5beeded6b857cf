"""Tokens: kept as digests, and never told but once."""

import logging
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from trackers.history import by_command
from trackers.tokens.acts import revoke_tokens
from trackers.tokens.models import ApiToken

ERROR = {"error": "Send a valid token as Authorization: Bearer …"}


@pytest.mark.parametrize("brought", ["", "Bearer ", "Bearer x", "Basic eDp5", "Token {t}", "{t}"])
def test_every_call_needs_a_token(program, brought):
    told = program.ask("GET", "users", Authorization=brought.replace("{t}", program.token))
    assert (program.status, told) == (401, ERROR)


def test_a_token_in_the_address_is_not_accepted(program, client):
    answer = client.get("/api/v1/users", {"token": program.token})
    assert (answer.status_code, answer.json()["detail"]) == (401, ERROR["error"])


def test_a_session_does_not_replace_a_token(client, program):
    client.force_login(program.user)
    assert client.get("/api/v1/users").status_code == 401


def test_a_revoked_token_or_one_of_an_inactive_user_is_refused(program):
    assert program.get("users")
    program.user.is_active = False
    program.user.save()
    assert program.get("users") == ERROR
    program.user.is_active = True
    program.user.save()
    assert program.get("users") != ERROR

    [token] = ApiToken.objects.all()
    assert revoke_tokens([token], by_command()).count == 1
    assert revoke_tokens([token], by_command()).count == 0
    assert program.get("users") == ERROR


def test_last_use_is_written_once_an_hour(program, django_assert_num_queries):
    program.get("users/me/following_count")
    [token] = ApiToken.objects.all()
    assert timezone.now() - token.used_at < timedelta(minutes=1)

    # The token, its use, the permissions of the user and of its groups, the follower, the count.
    with django_assert_num_queries(6):
        program.get("users/me/following_count")


def test_no_token_is_in_the_database_or_in_a_log(program, caplog, settings):
    settings.DEBUG = True
    caplog.set_level(logging.DEBUG)
    program.get("users")
    program.get("users/me/timeline?limit=x")
    assert program.get("nowhere") == {
        "error": "There is no such address; /api/v1/docs lists them all."
    }
    program.put("timelines/a", {"entries": []})
    program.ask("GET", "users", Authorization=f"Token {program.token}")
    [token] = ApiToken.objects.all()

    with connection.cursor() as db:
        db.execute("SELECT t::text FROM trackers_apitoken t")
        rows = str(db.fetchall())

    assert token.digest in rows
    told = rows + caplog.text + "".join(str(record.__dict__) for record in caplog.records)
    assert caplog.records
    assert program.token not in told
