"""A session is encrypted: what a person is in the midst of is a secret, too."""

import pytest
from cryptography.fernet import Fernet
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core import signing
from django.test import Client

from trackers.tokens.sessions import end_sessions, sessions_of

PASSWORD = "a password of no account"


@pytest.fixture(autouse=True)
def _quick_hashes(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def ada(db):
    return User.objects.create_superuser("ada", "", PASSWORD)


def logged_in():
    client = Client()
    client.post("/login/", {"username": "ada", "password": PASSWORD})
    return client


def stored():
    """What whoever reads the table reads, with Django's signature opened if there is one."""
    for data in Session.objects.values_list("session_data", flat=True):
        yield data
        try:
            yield str(signing.loads(data, salt="django.contrib.sessions.SessionStore"))
        except signing.BadSignature:
            continue


@pytest.mark.usefixtures("ada")
def test_the_secret_of_an_app_and_a_form_that_waits_cannot_be_read_in_the_table():
    client = logged_in()
    # It asks for the password first, and the form waits for it.
    client.post("/account/factors/app/", {"code": "aformthatwaits"})
    assert "aformthatwaits" in str(dict(client.session.items()))
    assert not any("aformthatwaits" in text for text in stored())

    client.post("/account/confirm/", {"password": PASSWORD})
    client.get("/account/factors/app/")

    secret = client.session["mfa.totp.secret"]
    assert not any(secret in text for text in stored())


def test_sessions_of_an_account_are_found_and_ended(ada):
    client, other = logged_in(), logged_in()
    assert len(sessions_of(ada)) == 2

    assert end_sessions(ada) == 2

    assert [one.get("/").status_code for one in (client, other)] == [302, 302]


@pytest.mark.usefixtures("ada")
def test_a_session_lasts_as_long_as_its_key_is_known(settings):
    client, old = logged_in(), settings.FIELD_KEYS
    new = Fernet.generate_key().decode()

    settings.FIELD_KEYS = [new, *old]
    assert client.get("/account/").status_code == 200
    settings.FIELD_KEYS = [new]

    assert client.get("/account/").headers["Location"].startswith("/login/")
