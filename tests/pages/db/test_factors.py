"""Second factors: codes of an app and of paper, who must have one, and help for who lost them."""

import base64
import hmac
import io
import re
import struct
import time
from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db.models import F
from django.test import Client

from tests.pages.db.test_session import RIGHT, log_in, person
from trackers import roles
from trackers.backups.keys import locks
from trackers.tokens.models import ApiToken, WrongLogin
from trackers.tokens.wrong_logins import BOTH

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _quick_hashes(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def code_of(secret, *, steps=0):
    """RFC 6238, as a phone computes it."""
    counter = struct.pack(">Q", int(time.time()) // 30 + steps)
    digest = hmac.digest(base64.b32decode(secret), counter, "sha1")
    at = digest[-1] & 15
    return f"{(int.from_bytes(digest[at : at + 4]) & 0x7FFFFFFF) % 10**6:06}"


def confirm(client, page):
    """As the page asks: with the password. Returns where that leads."""
    led = client.get(page)
    assert led.headers["Location"].startswith("/account/confirm/?next="), led.headers
    return client.post(led.headers["Location"], {"password": RIGHT, "next": page})


def add_app(client):
    """The secret, and the recovery codes."""
    assert confirm(client, "/account/factors/app/").headers["Location"] == "/account/factors/app/"
    secret = re.search(r'<code class="whole">(\w+)', page_of(client, "/account/factors/app/"))[1]
    added = client.post("/account/factors/app/", {"code": code_of(secret)})
    assert added.headers["Location"] == "/account/factors/codes/"
    codes = re.findall(r"^\D*(\d{8})$", page_of(client, added.headers["Location"]), re.MULTILINE)
    assert len(codes) == 10
    return secret, codes


def page_of(client, address):
    return client.get(address).content.decode()


@pytest.fixture
def eve():
    return person(roles.VIEWER)


@pytest.fixture
def app(eve):
    """Her secret and codes; she is logged out."""
    client = Client()
    log_in(client)
    kept = add_app(client)
    cache.clear()
    return kept


def enter(client, code):
    return client.post("/login/factor/", {"code": code})


def test_after_the_password_a_code_of_the_app_is_asked_for(client, app):
    led = log_in(client, next="/sources/").headers["Location"]

    assert led.startswith("/login/factor/")
    assert client.get("/sources/").headers["Location"].startswith("/login/")
    assert "not the right one" in enter(client, "000000").content.decode()
    assert enter(client, code_of(app[0])).headers["Location"] == "/sources/"
    assert client.get("/sources/").status_code == 200


def test_a_code_works_once_whichever_process_takes_it(client, app):
    code, other = code_of(app[0]), Client()
    log_in(client)
    log_in(other)

    assert enter(client, code).status_code == 302
    assert enter(other, code).status_code == 200, "the table of the cache remembers it"


def test_pages_that_show_a_secret_are_neither_compressed_nor_stored(client, eve):
    log_in(client)
    confirm(client, "/account/factors/app/")
    packed = {"Accept-Encoding": "gzip"}
    assert client.get("/account/factors/", headers=packed).has_header("Content-Encoding")

    shown = client.get("/account/factors/app/", headers=packed)
    secret = re.search(r'<code class="whole">(\w+)', shown.content.decode())[1]
    client.post("/account/factors/app/", {"code": code_of(secret)})

    for answer in (shown, client.get("/account/factors/codes/", headers=packed)):
        assert not answer.has_header("Content-Encoding")
        assert "no-store" in answer.headers["Cache-Control"]


def test_a_recovery_code_works_once_and_is_shown_once(client, app):
    log_in(client)
    assert enter(client, app[1][0]).status_code == 302
    assert app[1][1] not in page_of(client, "/account/factors/codes/")

    other = Client()
    log_in(other)
    assert enter(other, app[1][0]).status_code == 200


def test_wrong_codes_slow_down_further_ones_and_the_password_does_not_reset_that(client, app):
    log_in(client)
    for _ in range(BOTH.free):
        enter(client, "000000")
        log_in(Client())
    WrongLogin.objects.update(last_at=F("last_at") + timedelta(hours=1))

    assert "Too many wrong" in enter(client, code_of(app[0])).content.decode()
    call_command("user", "unlock", "eve", stdout=io.StringIO())
    assert enter(client, code_of(app[0])).status_code == 302


def test_secrets_are_under_field_keys_and_are_rotated(client, app, settings):
    factors = Authenticator.objects.order_by("type")
    stored = [factor.data.get("secret") or factor.data["seed"] for factor in factors]
    old = settings.FIELD_KEYS
    assert app[0] in [Fernet(old[0]).decrypt(token.encode()).decode() for token in stored]
    new = Fernet.generate_key().decode()

    settings.FIELD_KEYS = [new]
    assert locks()[1] == 2, "a backup says that none of the keys opens these"
    with pytest.raises(CommandError, match="Nothing was changed"):
        call_command("rotate_field_keys")
    log_in(client)
    assert "is not in FIELD_KEYS" in enter(client, code_of(app[0])).content.decode()

    settings.FIELD_KEYS = [new, *old]
    call_command("rotate_field_keys", stdout=io.StringIO())
    settings.FIELD_KEYS = [new]
    assert enter(client, code_of(app[0])).status_code == 302
    assert app[1] == Authenticator.objects.get(type="recovery_codes").wrap().generate_codes()


def test_a_signed_in_browser_alone_neither_adds_nor_removes_a_factor(client, app, eve):
    log_in(client)
    enter(client, code_of(app[0]))

    for page in ("app/remove/", "codes/new/", "passkeys/add/"):
        led = client.post(f"/account/factors/{page}").headers["Location"]
        assert led.startswith("/account/confirm/"), page
    assert Authenticator.objects.count() == 2
    done = confirm(client, "/account/factors/app/remove/")
    assert client.post(done.headers["Location"]).headers["Location"] == "/account/factors/"
    assert not Authenticator.objects.exists(), "the codes went with it"
    made = {entry.change_message for entry in LogEntry.objects.all()}
    assert "Removed an authenticator app, on a page." in made


def test_the_change_log_says_who_added_a_factor(client, eve, django_capture_on_commit_callbacks):
    log_in(client)
    with django_capture_on_commit_callbacks(execute=True):
        add_app(client)

    made = {entry.change_message for entry in LogEntry.objects.all()}
    assert "Added an authenticator app to log in with, on a page." in made


@pytest.fixture
def owner(settings, client):
    settings.SECOND_FACTOR = True
    eve = person(roles.OWNER)
    log_in(client)
    return eve


def test_an_owner_who_must_have_a_factor_sees_nothing_else_until_it_is_there(client, owner):
    for address in ("/", "/tweets/", "/admin/"):
        assert client.get(address).headers["Location"] == "/account/factors/", address
    assert client.get("/tweets/5/series.json").status_code == 403
    asked = client.get("/tweets/?part=rows", headers={"HX-Request": "true"})
    assert asked.headers["HX-Redirect"] == "/account/factors/"
    assert client.get("/api/v1/events/stream").status_code in (401, 403)

    add_app(client)

    assert client.get("/tweets/").status_code == 200
    assert "must have a second factor" in page_of(client, "/account/factors/app/remove/")
    client.post("/account/factors/app/remove/")
    assert Authenticator.objects.filter(type="totp").exists()


def test_viewers_and_tokens_need_no_factor(client, settings, owner):
    token = ApiToken(user=owner, name="x")
    secret = token.save_with_secret()
    headers = {"Authorization": f"Bearer {secret}"}
    assert Client().get("/api/v1/tweets", headers=headers).status_code == 200

    viewer = User.objects.create_user("vic")
    roles.give(viewer, roles.VIEWER)
    other = Client()
    other.force_login(viewer)
    assert other.get("/tweets/").status_code == 200


def test_a_command_replaces_a_lost_device_or_password(client, app, capsys, monkeypatch):
    call_command("user", "reset-factors", "eve")
    assert "without a second factor" in capsys.readouterr().out
    assert log_in(client).headers["Location"] == "/"

    monkeypatch.setattr("sys.stdin", io.StringIO("of no account either\n"))
    call_command("user", "set-password", "eve")
    assert client.get("/").status_code == 302, "logged out"
    assert User.objects.get(username="eve").check_password("of no account either")
    monkeypatch.setattr("sys.stdin", io.StringIO("12345\n"))
    with pytest.raises(CommandError, match="too short"):
        call_command("user", "set-password", "eve")
