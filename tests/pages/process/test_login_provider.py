"""Logging in at a real OpenID Connect provider on this machine: accounts, roles, links."""

import html
import re
from urllib.parse import urlsplit

import httpx
import oidc_provider_mock
import pytest
from allauth.mfa.models import Authenticator
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


def linked(provider, *, password):
    """Ada, logged in by her link; and her client."""
    client = Client()
    ada = User.objects.create_superuser("ada", "", PASSWORD)
    SocialAccount.objects.create(user=ada, provider=LoginProvider.id, uid="7")
    knows(provider, "7", "bosses")
    if not password:
        ada.set_unusable_password()
        ada.save()
    log_in(client, "7")
    assert client.get("/account/").wsgi_request.user == ada
    return ada, client


def test_an_account_with_a_password_is_unlinked_after_it_was_asked_for(provider):
    ada, client = linked(provider, password=True)
    assert 'href="/account/provider/"' in text(client.get("/account/"))
    assert "Unlink your account" in text(client.get("/account/provider/"))

    asked = client.post("/account/provider/")
    assert asked.headers["Location"].startswith("/account/confirm/")
    assert SocialAccount.objects.exists()
    done = client.post(asked.headers["Location"], {"password": PASSWORD}, follow=True)

    assert "Your account is no longer linked with Example ID." in text(done)
    assert not SocialAccount.objects.exists()
    assert roles.roles_of(ada) == ["owner"], "it stays"
    assert LogEntry.objects.latest("pk").change_message == "Unlinked from Example ID, on a page."
    knows(provider, "7", "readers", preferred_username="ada")
    log_in(stranger := Client(), "7")
    assert stranger.get("/account/").wsgi_request.user != ada
    assert client.get("/account/provider/").headers["Location"] == "/account/"


def test_the_only_way_in_cannot_be_unlinked_and_says_so(provider):
    _, client = linked(provider, password=False)

    for answer in (client.get("/account/provider/"), client.post("/account/provider/")):
        assert "Example ID is the only way in which you can log in" in text(answer)
        assert '<button class="danger">' not in text(answer)
    assert SocialAccount.objects.count() == 1
    assert log_in(Client(), "7").status_code == 302


def passkey(user, *, alone):
    """As django-allauth keeps one; `alone`: it needs neither name nor password."""
    credential = {"clientExtensionResults": {"credProps": {"rk": alone}}}
    return Authenticator.objects.create(
        user=user, type=Authenticator.Type.WEBAUTHN, data={"name": "x", "credential": credential}
    )


def test_a_passkey_is_a_way_in_if_it_needs_no_password(provider):
    ada, client = linked(provider, password=False)
    passkey(ada, alone=False)
    assert "the only way in" in text(client.get("/account/provider/"))

    passkey(ada, alone=True)

    assert "Unlink your account" in text(client.get("/account/provider/"))


def test_the_last_way_in_is_a_passkey_that_cannot_be_removed(provider):
    ada, client = linked(provider, password=False)
    key = passkey(ada, alone=True)
    remove = f"/account/factors/passkeys/{key.pk}/remove/"
    assert client.get(remove).status_code == 302, "linked, it is not the last; it asks who one is"

    SocialAccount.objects.all().delete()

    refused = client.post(remove)
    assert refused.status_code == 403
    assert "the only way in which you can log in" in text(refused)
    assert Authenticator.objects.count() == 1


def test_of_the_claims_only_the_role_and_the_name_are_kept(client, provider):
    claims = {"phone_number": "+1 555 0100", "birthdate": "1999-01-01", "address": {"x": "Road 1"}}
    knows(provider, "8", "editors", preferred_username="eve", email="eve@here.example", **claims)

    log_in(client, "8")

    assert SocialAccount.objects.get().extra_data == {"role": "operator"}
    eve = User.objects.get()
    assert (eve.username, eve.email) == ("eve", "eve@here.example")
    knows(provider, "8", "readers", **claims)
    log_in(Client(), "8")
    assert SocialAccount.objects.get().extra_data == {"role": "viewer"}


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
