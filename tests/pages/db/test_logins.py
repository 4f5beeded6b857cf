"""Where a person is logged in: shown to her alone, ended by her, and gone soon after."""

from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from tests.pages.db.test_session import RIGHT, person
from trackers import roles, tasks
from trackers.history import by_command
from trackers.tokens import acts

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _quick_hashes(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def logged_in(address, browser):
    client = Client(REMOTE_ADDR=address, headers={"User-Agent": browser})
    assert client.post("/login/", {"username": "eve", "password": RIGHT}).status_code == 302
    return client


def test_a_person_sees_and_ends_her_other_logins():
    eve = person(roles.VIEWER)
    here, other = logged_in("192.0.2.1", "Firefox here"), logged_in("2001:db8::7", "Chrome there")

    page = here.get("/account/").content.decode()
    assert ("Firefox here" in page, "2001:db8::7" in page, "Chrome there" in page) == (True,) * 3
    here.post("/account/logins/end")

    assert here.get("/account/").status_code == 200
    assert other.get("/account/").status_code == 302
    assert [row.user_agent for row in UserSession.objects.all()] == ["Firefox here"]
    assert LogEntry.objects.get(object_id=eve.pk).change_message.startswith("Logged out everywhere")


def test_address_and_browser_are_gone_once_the_login_has_ended():
    person(roles.VIEWER)
    left, expired = logged_in("192.0.2.1", "left"), logged_in("192.0.2.2", "expired")
    kept = logged_in("192.0.2.3", "kept")
    left.post("/logout/")
    key = expired.session.session_key
    Session.objects.filter(pk=key).update(expire_date=timezone.now() - timedelta(minutes=1))

    tasks.prune_sessions()

    assert [row.user_agent for row in UserSession.objects.all()] == ["kept"]
    assert kept.get("/account/").status_code == 200


def test_revoking_all_leaves_no_address_behind():
    eve = person(roles.VIEWER)
    logged_in("192.0.2.1", "here")

    acts.revoke_all(eve, by_command())

    assert not UserSession.objects.exists()


def test_a_client_behind_a_socket_without_an_address_logs_in():
    person(roles.VIEWER)

    assert "there" in logged_in("", "there").get("/account/").content.decode()
