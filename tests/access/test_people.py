"""Accounts: the command that adds them, and what an owner may do to them in the admin."""

import io
import json

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command

from trackers import roles
from trackers.roles import OPERATOR, OWNER, VIEWER

pytestmark = pytest.mark.django_db
PASSWORD = "of no account at all"
USERS = "/admin/auth/user/"


@pytest.fixture(autouse=True)
def _quick(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.SECURE_SSL_REDIRECT = False


@pytest.fixture
def owner(client):
    kim = User.objects.create_user("kim")
    roles.give(kim, OWNER)
    client.force_login(kim)
    return client


def user(monkeypatch, *arguments, typed=""):
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    out = io.StringIO()
    call_command("user", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_an_account_is_added_with_a_role_and_a_password_from_standard_input(monkeypatch):
    told = user(monkeypatch, "add", "eve", "--role", "operator", typed=f"{PASSWORD}\n")

    eve = User.objects.get(username="eve")
    assert told == "eve: operator\n"
    assert eve.check_password(PASSWORD)
    assert (roles.roles_of(eve), eve.is_staff) == ([OPERATOR], True)
    assert PASSWORD not in LogEntry.objects.get().change_message


@pytest.mark.parametrize(
    ("name", "typed"), [("eve", "12345"), ("eve", ""), ("", PASSWORD), ("a b", PASSWORD)]
)
def test_bad_account_names_and_passwords_are_refused_with_a_sentence(monkeypatch, name, typed):
    with pytest.raises(CommandError) as refused:
        user(monkeypatch, "add", name, typed=typed)

    assert refused.value.returncode == 2
    assert not User.objects.exists()


def test_a_role_is_granted_removed_and_listed(monkeypatch):
    User.objects.create_user("eve")

    assert user(monkeypatch, "role", "eve", "viewer") == "eve: viewer\n"
    assert json.loads(user(monkeypatch, "list", "--json"))["roles"] == [VIEWER]
    assert user(monkeypatch, "role", "eve", "none") == "eve: no role\n"
    with pytest.raises(CommandError, match="There is no account called bob"):
        user(monkeypatch, "role", "bob", "viewer")


def changed(**given):
    joined = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    return {"username": "eve", "is_active": "on", **joined, **given}


def test_an_owner_grants_a_role_that_opens_the_admin(owner):
    eve = User.objects.create_user("eve")
    group = Group.objects.get(name=OPERATOR)

    owner.post(f"{USERS}{eve.pk}/change/", changed(groups=[group.pk]))

    eve.refresh_from_db()
    assert (roles.roles_of(eve), eve.is_staff) == ([OPERATOR], True)


def test_an_owner_can_neither_create_nor_change_an_administrator(owner):
    eve, root = User.objects.create_user("eve"), User.objects.create_superuser("root")

    owner.post(f"{USERS}{eve.pk}/change/", changed(is_superuser="on", user_permissions=["1"]))
    eve.refresh_from_db()
    assert not eve.is_superuser
    assert not eve.user_permissions.exists()

    for page in ("change", "delete"):
        assert owner.post(f"{USERS}{root.pk}/{page}/", {"post": "yes"}).status_code == 403
    given = {"password1": PASSWORD, "password2": PASSWORD}
    assert owner.post(f"{USERS}{root.pk}/password/", given).status_code == 403


def test_the_group_of_a_role_cannot_be_edited_but_teams_can(client):
    client.force_login(User.objects.create_superuser("root"))
    role, team = Group.objects.get(name=VIEWER), Group.objects.create(name="newsroom")

    for page in ("change", "delete"):
        given = {"name": "looker", "post": "yes"}
        assert client.post(f"/admin/auth/group/{role.pk}/{page}/", given).status_code == 403
    page = client.get(f"/admin/auth/group/{role.pk}/change/").content.decode()
    assert "Whoever has this role sees every page." in page
    assert "Can view alert digest" not in page
    client.post(f"/admin/auth/group/{team.pk}/change/", {"name": "desk"})

    assert set(Group.objects.values_list("name", flat=True)) == {*roles.ROLES, "desk"}
