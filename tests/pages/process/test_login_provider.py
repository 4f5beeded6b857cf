"""Logging in at a real OpenID Connect provider on this machine: accounts, roles, links."""

import html
import re
from urllib.parse import urlsplit

import httpx
import oidc_provider_mock
import pytest
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client

from trackers import roles
from tweetwatch.servers import LoginProvider

pytestmark = pytest.mark.django_db
LOGIN, CALLBACK = "/login/with/oidc/", "/login/with/oidc/callback/"
PASSWORD = "a password of no account"
ROLES = (
    ("viewer", frozenset({"readers"})),
    ("operator", frozenset({"editors"})),
    ("owner", frozenset({"bosses"})),
)


@pytest.fixture(scope="module")
def server():
    with oidc_provider_mock.run_server_in_thread() as running:
        yield f"http://localhost:{running.server_port}"


@pytest.fixture
def provider(server, settings):
    made = LoginProvider("Example ID", server, "tweetwatch", "of-no-account", "groups", ROLES)
    settings.LOGIN_PROVIDER, settings.SOCIALACCOUNT_PROVIDERS = made, made.as_setting()
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    return made


def knows(provider, sub, *groups, **claims):
    """The provider knows this person, in these groups."""
    body = {**claims, "groups": list(groups)}
    httpx.put(f"{provider.issuer}/users/{sub}", json=body).raise_for_status()


def log_in(client, sub, *, address=LOGIN, **sent):
    """The whole way, as a browser goes it; returns the answer to the callback."""
    away = client.post(address, sent).headers["Location"]
    back = httpx.post(away, data={"sub": sub}).headers["Location"]
    parts = urlsplit(back)
    assert parts.path == CALLBACK
    return client.get(f"{parts.path}?{parts.query}")


def text(answer):
    return html.unescape(answer.content.decode())


def test_a_first_login_makes_an_account_with_the_role_of_its_claim(client, provider):
    knows(provider, "1", "readers", "editors", preferred_username="eve", email="eve@here.example")
    assert "Log in with Example ID" in text(client.get("/login/"))

    answer = log_in(client, "1", next="/sources/")

    assert answer.headers["Location"] == "/sources/"
    eve = User.objects.get()
    assert (eve.username, roles.roles_of(eve), eve.is_staff) == ("eve", ["operator"], True)
    assert not eve.has_usable_password()
    line = LogEntry.objects.get().change_message
    assert line == "Added as operator by its first login, by a login with Example ID."


def test_without_a_role_in_the_claim_there_is_no_account_and_a_person_to_ask(client, provider):
    User.objects.create_superuser("root")
    knows(provider, "2", "strangers", preferred_username="mal")

    answer = log_in(client, "2")

    assert answer.status_code == 403
    assert "Example ID knows you" in text(answer)
    assert "Ask root" in text(answer)
    assert not User.objects.filter(username="mal").exists()
    assert client.get("/").status_code == 302


def test_the_role_follows_the_claim_at_each_login(provider):
    knows(provider, "3", "bosses", preferred_username="kim")
    User.objects.create_superuser("root")
    log_in(Client(), "3")
    kim = User.objects.get(username="kim")
    assert roles.roles_of(kim) == ["owner"]

    knows(provider, "3", "readers")
    client = Client()
    log_in(client, "3")
    assert (roles.roles_of(kim), client.get("/tweets/").status_code) == (["viewer"], 200)

    knows(provider, "3")
    assert log_in(Client(), "3").status_code == 403
    assert roles.roles_of(kim) == []
    assert client.get("/tweets/").status_code == 403, "of a session before, too"


def test_the_last_owner_keeps_the_role(provider):
    knows(provider, "4", "bosses", preferred_username="kim")
    log_in(Client(), "4")
    knows(provider, "4", "readers")

    assert log_in(Client(), "4").status_code == 302
    assert roles.roles_of(User.objects.get(username="kim")) == ["owner"]


def test_a_taken_name_or_address_leads_into_no_account(client, provider):
    ada = User.objects.create_superuser("ada", "ada@here.example", PASSWORD)
    claims = {"email": "ada@here.example", "email_verified": True}
    knows(provider, "5", "readers", preferred_username="ada", **claims)

    log_in(client, "5")

    other = User.objects.exclude(pk=ada.pk).get()
    assert client.get("/account/").wsgi_request.user == other
    assert other.username != "ada"
    assert roles.roles_of(other) == ["viewer"]


def test_an_account_is_linked_by_its_signed_in_owner_after_the_password(client, provider):
    ada = User.objects.create_superuser("ada", "", PASSWORD)
    knows(provider, "6", preferred_username="somebody")
    client.post("/login/", {"username": "ada", "password": PASSWORD})
    page = text(client.get("/account/"))
    link = re.search(r'action="(/login/with/oidc/\?process=connect)"', page)[1]

    asked = log_in(client, "6", address=link)
    assert asked.headers["Location"].startswith("/account/confirm/")
    assert not SocialAccount.objects.exists()
    client.post("/account/confirm/", {"password": PASSWORD})

    assert SocialAccount.objects.get().user == ada
    assert "You can log in with Example ID" in text(client.get("/account/"))
    other = Client()
    log_in(other, "6")
    assert other.get("/account/").wsgi_request.user == ada


def test_an_answer_that_the_provider_did_not_give_is_refused(client, provider, caplog):
    state = client.post(LOGIN).headers["Location"].partition("state=")[2].partition("&")[0]

    refused = client.get(f"{CALLBACK}?code=made-up&state={state}")

    assert "You were not logged in" in text(refused)
    assert "made-up" not in caplog.text
    assert client.get(f"{CALLBACK}?code=made-up&state=made-up").status_code != 302
    assert not User.objects.exists()


def test_without_a_provider_there_is_no_such_login(client, settings):
    settings.LOGIN_PROVIDER, settings.SOCIALACCOUNT_PROVIDERS = None, {}

    assert "Log in with" not in text(client.get("/login/")).replace("Log in with a passkey", "")
    assert client.post(LOGIN).status_code == 404


def test_the_provider_can_be_imported_beside_the_older_oauthlib():
    """Its extra would take oauthlib 4; tweepy takes none of it."""
    assert OpenIDConnectProvider.id == "openid_connect"


def test_a_claim_may_be_one_value_or_lie_within_others(provider):
    nested = LoginProvider("x", "https://x.example", "x", "x", "realm.roles", ROLES)

    assert provider.role_for({"groups": "bosses"}) == "owner"
    assert provider.role_for({"groups": ["readers", "bosses"]}) == "owner"
    assert nested.role_for({"realm": {"roles": ["editors"]}}) == "operator"
    for odd in ({}, {"realm": "editors"}, {"realm": {"roles": None}}, {"realm": {}}):
        assert nested.role_for(odd) is None
