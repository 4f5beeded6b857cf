"""Sign in with X: a user's tokens become a credential; each failure has its sentence."""

import re
from datetime import timedelta
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests
from django.contrib.auth.models import Permission, User
from django.contrib.sessions.models import Session
from django.utils import timezone

from tests.admin.conftest import messages_on
from trackers.admin.x_sign_in import SESSION_KEY
from trackers.credentials import sign_in
from trackers.credentials.models import Credential
from trackers.credentials.sign_in import open_pending

pytestmark = pytest.mark.django_db(transaction=True)
BEGIN, DONE = "/admin/trackers/credential/sign-in/", "/admin/trackers/credential/signed-in/"
GIVEN = {"name": "reader", "app": "", "client_id": "client-1", "client_secret": "a-client-secret"}


@pytest.fixture(autouse=True)
def _at_the_fake(fake, settings):
    settings.X_API_BASE_URL = fake.url
    fake.tell("DELETE", "credentials")
    fake.tell("POST", "clients", client_id="client-1", client_secret="a-client-secret")


def to_x(staff, address=BEGIN, given=GIVEN):
    """The address at X to which the page leads."""
    page = staff.post(address, given)
    assert page.status_code == 200, page.content
    return unescape(re.search(r'id="to-x" href="([^"]+)"', page.content.decode())[1])


def back_from_x(address, answer="allow"):
    """Where X sends whoever clicks on one of its two links; as a path of ours."""
    shown = requests.get(address, timeout=30)
    link = unescape(re.search(rf'id="{answer}" href="([^"]+)"', shown.text)[1])
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(address))
    sent = requests.get(origin + link, allow_redirects=False, timeout=30)
    assert sent.status_code == 302
    return sent.headers["Location"].removeprefix("http://testserver")


def message_on(staff, path):
    [message] = messages_on(staff.get(path, follow=True))
    return message


def test_a_user_signs_in_and_the_tokens_are_kept_encrypted(staff, fake, everything_logged):
    address = to_x(staff)
    asked = parse_qs(urlsplit(address).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == [f"http://testserver{DONE}"]
    assert asked["scope"] == ["tweet.read users.read list.read offline.access"]
    sealed = staff.session[SESSION_KEY]
    pending = open_pending(sealed)
    path = back_from_x(address)
    code = parse_qs(urlsplit(path).query)["code"][0]

    assert message_on(staff, path).startswith("reader now has tokens from X")

    credential = Credential.objects.get()
    assert (credential.kind, credential.app.name, credential.state) == ("oauth2", "reader", "ready")
    assert set(credential.secrets) == {
        "client_id",
        "client_secret",
        "access_token",
        "refresh_token",
    }
    assert timedelta(hours=1) < credential.expires_at - timezone.now() < timedelta(hours=3)
    assert (credential.scopes, credential.not_allowed) == (asked["scope"][0].split(), "")
    asked = {
        "headers": {"Authorization": f"Bearer {credential.secrets['access_token']}"},
        "timeout": 30,
    }
    id = fake.visible_ids(1)[0]
    assert requests.get(f"{fake.url}/2/tweets?ids={id}", **asked).status_code == 200
    kept = everything_logged.text + str(Session.objects.values_list("session_data")) + address
    for secret in (code, pending.verifier, "a-client-secret", credential.secrets["refresh_token"]):
        assert secret not in kept
    # The code is spent, and what was begun has ended.
    assert message_on(staff, path) == sign_in.NOT_BEGUN


def test_a_credential_is_signed_in_again_and_works_again(staff):
    message_on(staff, back_from_x(to_x(staff)))
    credential = Credential.objects.get()
    before = credential.secrets["refresh_token"]
    credential.disable(
        "sign in again: X does not take its refresh token any more", now=timezone.now()
    )
    path = f"/admin/trackers/credential/{credential.pk}/sign-in/"
    assert "reader will get new tokens" in staff.get(path).content.decode()
    assert path in staff.get(path.replace("sign-in/", "change/")).content.decode()
    assert BEGIN in staff.get("/admin/trackers/credential/").content.decode()

    assert message_on(staff, back_from_x(to_x(staff, path, {}))).startswith("reader now has tokens")

    credential = Credential.objects.get()
    assert (credential.disabled_at, credential.secrets["refresh_token"] == before) == (None, False)


def test_denying_access_at_x_saves_nothing_and_says_so(staff):
    assert message_on(staff, back_from_x(to_x(staff), "deny")) == sign_in.DENIED
    assert not Credential.objects.exists()


def test_a_response_with_the_state_of_another_sign_in_is_refused(staff):
    path = back_from_x(to_x(staff))
    assert message_on(staff, path.replace("state=", "state=x")) == sign_in.OTHER
    # It is over with that: nobody may try again.
    assert message_on(staff, path) == sign_in.NOT_BEGUN
    assert not Credential.objects.exists()


def test_another_browser_cannot_finish_the_sign_in(staff, client):
    path = back_from_x(to_x(staff))
    client.logout()
    client.force_login(User.objects.create_superuser("other"))
    assert message_on(client, path) == sign_in.NOT_BEGUN


def test_an_expired_sign_in_starts_again(staff):
    path = back_from_x(to_x(staff))
    session = staff.session
    pending = open_pending(session[SESSION_KEY])
    early = (timezone.now() - timedelta(minutes=11)).isoformat()
    session[SESSION_KEY] = sign_in.Pending(**{**kept(pending), "begun_at": early}).sealed()
    session.save()
    assert message_on(staff, path) == sign_in.LATE


def kept(pending):
    return {name: getattr(pending, name) for name in pending.__slots__}


def test_a_code_that_x_did_not_issue_is_refused(staff):
    path = back_from_x(to_x(staff))
    state = parse_qs(urlsplit(path).query)["state"][0]
    assert (
        message_on(staff, f"{DONE}?{urlencode({'state': state, 'code': 'mine'})}")
        == sign_in.CODE_EXPIRED
    )


def test_an_unknown_client_is_refused(staff):
    path = back_from_x(to_x(staff, given={**GIVEN, "client_secret": "wrong"}))
    assert message_on(staff, path) == sign_in.UNKNOWN_CLIENT


def test_an_unreachable_x_is_reported(staff, settings):
    path = back_from_x(to_x(staff))
    settings.X_API_BASE_URL = "http://127.0.0.1:9"
    assert message_on(staff, path).startswith("X could not be asked for the tokens: ")


@pytest.mark.parametrize(
    ("query", "says"),
    [("error=server_error", "(server_error)"), ("", "X sent no code")],
)
def test_a_response_without_a_code_is_reported(staff, query, says):
    state = parse_qs(urlsplit(to_x(staff)).query)["state"][0]
    assert says in message_on(staff, f"{DONE}?state={state}&{query}")


def test_the_form_names_its_errors(staff):
    message_on(staff, back_from_x(to_x(staff)))
    for values, says in (
        (GIVEN, "There is already a credential of this name"),
        ({**GIVEN, "name": "x", "client_secret": "a b"}, "white space"),
        ({}, "This field is required"),
    ):
        assert says in staff.post(BEGIN, values).content.decode()


def test_signing_in_needs_the_permission_to_add_credentials(client):
    bob = User.objects.create_user("bob", is_staff=True)
    bob.user_permissions.set(Permission.objects.filter(codename="view_credential"))
    client.force_login(bob)
    assert client.get(BEGIN).status_code == 403
    assert client.get(DONE).status_code == 403
