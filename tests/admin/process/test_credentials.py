from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.utils import timezone

from tests.admin.conftest import act, messages_on
from tests.factories import CredentialFactory
from trackers.admin.credentials import CredentialForm
from trackers.credentials.models import Credential, Window

pytestmark = pytest.mark.django_db
LIST = "/admin/trackers/credential/"
SECRET = "planted+Bearer/0123456789"
NONE = {
    "windows-TOTAL_FORMS": "0", "windows-INITIAL_FORMS": "0",
    "windows-MIN_NUM_FORMS": "0", "windows-MAX_NUM_FORMS": "0",
}  # fmt: skip
BEARER = {"name": "mine", "kind": "bearer", "api": "v2", "app": "", "project": "", **NONE}


def test_a_bearer_token_is_added(staff):
    staff.post(f"{LIST}add/", {**BEARER, "bearer_token": SECRET})

    assert dict(Credential.objects.get().secrets) == {"bearer_token": SECRET}


def test_missing_fields_are_named_and_typed_secrets_are_not_shown_again(staff):
    given = {**BEARER, "kind": "oauth1", "consumer_key": SECRET}

    page = staff.post(f"{LIST}add/", given).content.decode()

    assert "(consumer_secret, access_token, access_token_secret)" in page
    assert SECRET not in page
    assert not Credential.objects.exists()


def test_a_secret_of_another_kind_is_refused(staff):
    page = staff.post(f"{LIST}add/", {**BEARER, "bearer_token": "t", "access_token": SECRET})

    assert "A bearer credential has no access_token." in page.content.decode()
    assert SECRET not in page.content.decode()


def test_stored_secrets_are_never_shown_and_stay_when_left_empty(staff):
    credential = CredentialFactory(secrets={"bearer_token": SECRET})
    change = f"{LIST}{credential.pk}/change/"

    page = staff.get(change).content.decode()
    staff.post(change, {**BEARER, "name": "renamed"})

    assert SECRET not in page
    assert page.count("Set. Leave empty to keep it.") == 1
    assert page.count("Not set.") == 8
    credential.refresh_from_db()
    assert (credential.name, dict(credential.secrets)) == ("renamed", {"bearer_token": SECRET})


def test_a_secret_is_replaced(staff):
    credential = CredentialFactory()

    staff.post(f"{LIST}{credential.pk}/change/", {**BEARER, "bearer_token": SECRET})

    credential.refresh_from_db()
    assert dict(credential.secrets) == {"bearer_token": SECRET}
    assert not LogEntry.objects.filter(change_message__contains=SECRET).exists()


def test_an_undecryptable_secret_is_reported_and_can_be_entered_again(staff):
    credential = CredentialFactory()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE trackers_credential SET secrets = 'not to be decrypted'")
    change = f"{LIST}{credential.pk}/change/"

    assert credential.name in staff.get(LIST).content.decode()
    assert "Cannot be decrypted" in staff.get(change).content.decode()
    staff.post(change, {**BEARER, "bearer_token": SECRET})

    assert dict(Credential.objects.get().secrets) == {"bearer_token": SECRET}


def test_credentials_are_disabled_and_enabled(staff):
    credential = CredentialFactory()

    act(staff, LIST, "disable", credential.pk, sure="yes")
    credential.refresh_from_db()
    assert credential.disabled_reason == "disabled by ada"

    act(staff, LIST, "enable", credential.pk)
    credential.refresh_from_db()
    assert credential.state == "ready"


def test_a_check_asks_x_and_shows_its_answer(staff, fakex, settings):
    settings.X_API_BASE_URL = fakex.url
    credential = CredentialFactory()

    page = act(staff, LIST, "ask", credential.pk)

    assert messages_on(page)[0].startswith(f"{credential.name}: ok")
    assert len(fakex.log()) == 1


@pytest.mark.django_db(transaction=True)
def test_save_and_check_asks_x_after_saving(staff, fakex, settings):
    settings.X_API_BASE_URL = fakex.url
    given = {**BEARER, "bearer_token": "any", "_check": "Save and check"}

    page = staff.post(f"{LIST}add/", given, follow=True)

    made = Credential.objects.get()
    assert page.redirect_chain[-1][0] == f"{LIST}{made.pk}/change/"
    assert any(told.startswith("mine: ok") for told in messages_on(page))
    fakex.tell("PUT", "credentials", {"strict": True})
    page = staff.post(f"{LIST}{made.pk}/change/", {**BEARER, "_check": "1"}, follow=True)
    assert not any(told.startswith("mine: ok") for told in messages_on(page))
    assert len(fakex.log()) == 2


def test_an_invalid_form_is_not_checked_at_x(staff):
    page = staff.post(f"{LIST}add/", {**BEARER, "_check": "1"})

    assert page.status_code == 200
    assert not Credential.objects.exists()


def test_the_cool_down_of_an_ended_window_is_hidden(staff):
    credential = CredentialFactory()
    window = Window.objects.create(
        app=credential.app,
        endpoint="GET /2/tweets",
        cooldown_reason="429",
        cooldown_until=later(1),
    )
    address = f"{LIST}{credential.pk}/change/"
    # The window of a bearer token is its app's, and stands there all the same.
    assert "429" in staff.get(address).content.decode()
    Window.objects.update(limit=3500, remaining=3462, resets_at=later(1), seen_at=later(0))
    page = staff.get(address).content.decode()
    assert "<td>3,462 of 3,500</td>" in page
    assert "does not expire" in page

    window.cooldown_until = later(-1)
    window.save()

    assert "429" not in staff.get(address).content.decode()


def later(hours):
    return timezone.now() + timedelta(hours=hours)


TOKENS = {"client_id": "client-id", "user_access_token": "access", "refresh_token": "refresh"}
STORED = {"client_id": "client-id", "access_token": "access", "refresh_token": "refresh"}
OAUTH2 = {**BEARER, "kind": "oauth2"}


def test_user_tokens_are_added_with_and_without_a_client_secret(staff):
    staff.post(f"{LIST}add/", {**OAUTH2, **TOKENS})
    staff.post(f"{LIST}add/", {**OAUTH2, **TOKENS, "name": "two", "client_secret": SECRET})

    public, confidential = Credential.objects.order_by("name")
    assert dict(public.secrets) == STORED
    assert dict(confidential.secrets) == {**STORED, "client_secret": SECRET}


def test_tokens_renewed_by_a_worker_survive_saving_an_older_form(staff, monkeypatch):
    credential = CredentialFactory(kind="oauth2", secrets=STORED)
    ends = timezone.now()
    newer = {**STORED, "access_token": "newer", "refresh_token": "newer"}
    plain = CredentialForm.clean

    def clean_while_a_worker_renews(form):
        Credential.objects.update(secrets=newer, expires_at=ends)
        return plain(form)

    monkeypatch.setattr(CredentialForm, "clean", clean_while_a_worker_renews)
    staff.post(f"{LIST}{credential.pk}/change/", {**OAUTH2, "name": "renamed"})

    credential.refresh_from_db()
    assert (credential.name, dict(credential.secrets)) == ("renamed", newer)
    assert credential.expires_at == ends


def test_entering_new_tokens_resets_the_credential(staff):
    now = timezone.now()
    credential = CredentialFactory(
        kind="oauth2", secrets=STORED, expires_at=now, refreshing_until=now,
        renewals_failed=3, renewal_problem="X sent no new tokens: 503",
    )  # fmt: skip
    change = f"{LIST}{credential.pk}/change/"

    assert "X sent no new tokens: 503" in staff.get(change).content.decode()
    new = {"user_access_token": "newer", "refresh_token": "newest"}
    staff.post(change, {**OAUTH2, **new})

    credential.refresh_from_db()
    assert dict(credential.secrets) == {
        **STORED, "access_token": "newer", "refresh_token": "newest"
    }  # fmt: skip
    assert (credential.expires_at, credential.refreshing_until) == (None, None)
    assert (credential.renewals_failed, credential.reason) == (0, "")


def test_a_stored_access_token_of_another_kind_is_not_reused(staff):
    credential = CredentialFactory(kind="oauth2", secrets=STORED)
    given = {**BEARER, "kind": "oauth1", "consumer_key": "k", "consumer_secret": "s"}

    page = staff.post(f"{LIST}{credential.pk}/change/", {**given, "access_token_secret": "t"})

    assert "Enter the access token (access_token)." in page.content.decode()


def test_the_list_shows_credentials_that_must_sign_in_again(staff):
    CredentialFactory(kind="oauth2", secrets=STORED).disable("sign in again: x", now=timezone.now())

    assert "sign in again: x" in staff.get(LIST).content.decode()


OAUTH1 = {
    "kind": "oauth1", "consumer_key": "k", "consumer_secret": "s", "access_token": "42-token",
    "access_token_secret": "s",
}  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "owner", "fault"),
    [
        (OAUTH1, "42", ""),
        (OAUTH1, "43", "The access token belongs to another account."),
        ({"bearer_token": "t"}, "42", "A bearer token is an app&#x27;s, and no account&#x27;s."),
    ],
)
def test_the_owner_of_an_app_is_entered_with_its_own_tokens(staff, keys, owner, fault):
    page = staff.post(f"{LIST}add/", {**BEARER, **keys, "app_owner": owner}, follow=True)

    assert fault in page.content.decode()
    owners = list(Credential.objects.values_list("app_owner", flat=True))
    assert owners == ([] if fault else [int(owner)])
