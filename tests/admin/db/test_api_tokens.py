"""Tokens of the API in the admin: told once, and only as powerful as who makes them."""

import re

from django.contrib.auth.models import Permission, User

from tests.admin.conftest import act
from tests.api.conftest import allowed
from trackers.tokens.models import ApiToken
from trackers.tokens.secret import digest_of

LIST = "/admin/trackers/apitoken/"


def test_a_token_is_shown_once_and_works_until_revoked(staff, client):
    user = allowed(User.objects.create_user("program"), "view_tweet")

    page = staff.post(f"{LIST}add/", {"user": user.pk, "name": "nightly", "scope": "read"})
    [secret] = re.findall(r"<code>([\w-]{43})</code>", page.content.decode())
    assert "no-store" in page["Cache-Control"]
    assert secret not in str(page.cookies)
    token = ApiToken.objects.get()
    assert (token.user, token.digest) == (user, digest_of(secret))

    def status():
        return client.get(
            "/api/v1/users", headers={"Authorization": f"Bearer {secret}"}
        ).status_code

    assert status() == 200
    for shown in (LIST, f"{LIST}{token.pk}/change/", f"{LIST}{token.pk}/history/", "/admin/"):
        assert secret not in staff.get(shown).content.decode()

    page = act(staff, LIST, "revoke", token.pk).content.decode()
    assert "Revoke 1 API token?" in page
    token.refresh_from_db()
    assert token.revoked_at is None
    act(staff, LIST, "revoke", token.pk, sure="yes")
    assert status() == 401


def test_a_non_superuser_creates_and_sees_only_own_tokens(client, db):
    root = User.objects.create_superuser("root")
    ApiToken.objects.create(user=root, name="of root", digest="0" * 64)
    bob = User.objects.create_user("bob", is_staff=True)
    bob.user_permissions.set(Permission.objects.filter(content_type__model="apitoken"))
    client.force_login(bob)

    refused = client.post(f"{LIST}add/", {"user": root.pk, "name": "x", "scope": "read"})
    assert refused.context["adminform"].form.errors.keys() == {"user"}
    assert "of root" not in client.get(LIST).content.decode()

    client.post(f"{LIST}add/", {"user": bob.pk, "name": "x", "scope": "read"})
    assert list(ApiToken.objects.filter(name="x").values_list("user", flat=True)) == [bob.pk]


def test_no_list_is_filtered_by_a_secret(staff):
    user = User.objects.get()
    ApiToken.objects.create(user=user, name="of ada", digest="0" * 64)
    credentials = "/admin/trackers/credential/"

    assert "of ada" in staff.get(f"{LIST}?name__startswith=of").content.decode()
    for address in (
        f"{LIST}?digest__startswith=0",
        f"{LIST}?digest={'0' * 64}",
        f"{LIST}?user__password__startswith=a",
        f"{credentials}?secrets__isnull=1",
        "/admin/auth/user/?password__startswith=a",
        "/admin/auth/user/?api_tokens__digest__startswith=0",
    ):
        assert staff.get(address).status_code == 400, address
