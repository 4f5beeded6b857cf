"""Accounts: the command that adds them, and what an owner may do to them in the admin."""

import io
import json
import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from django.utils.formats import localize

from trackers import roles
from trackers.roles import OPERATOR, OWNER, VIEWER
from trackers.timelines.followers import own
from trackers.tokens.feed_addresses import make_address
from trackers.tokens.models import ApiToken
from trackers.tokens.sessions import sessions_of

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
    team = Group.objects.create(name="newsroom")

    owner.post(f"{USERS}{eve.pk}/change/", changed(role=OPERATOR, groups=[team.pk]))

    eve.refresh_from_db()
    assert (roles.roles_of(eve), eve.is_staff) == ([OPERATOR], True)
    assert eve.groups.contains(team)


def test_a_form_about_something_else_leaves_the_role_and_a_team_as_they_are(owner):
    eve = User.objects.create_user("eve")
    team = Group.objects.create(name="newsroom")
    roles.give(eve, OPERATOR)
    eve.groups.add(team)

    owner.post(
        f"{USERS}{eve.pk}/change/", changed(role=OPERATOR, groups=[team.pk], first_name="Eve")
    )

    eve.refresh_from_db()
    assert (roles.roles_of(eve), eve.first_name) == ([OPERATOR], "Eve")
    assert eve.groups.contains(team)

    owner.post(f"{USERS}{eve.pk}/change/", changed(groups=[team.pk]))
    eve.refresh_from_db()
    assert (roles.roles_of(eve), eve.is_staff) == ([], False)


def test_an_administrator_who_is_none_any_more_cannot_open_the_admin(client):
    client.force_login(User.objects.create_superuser("root"))
    eve = User.objects.create_superuser("eve")

    client.post(f"{USERS}{eve.pk}/change/", changed())

    eve.refresh_from_db()
    assert (eve.is_superuser, eve.is_staff) == (False, False)


def test_the_page_of_a_user_has_the_role_first_and_no_single_permissions(owner):
    eve = User.objects.create_user("eve")
    roles.give(eve, VIEWER)

    page = owner.get(f"{USERS}{eve.pk}/change/").content.decode()

    assert 'name="user_permissions"' not in page
    assert re.search(r'name="role" value="viewer"[^>]* checked', page)
    assert page.index('name="role"') < page.index('name="email"')


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


def test_all_that_an_account_gets_in_by_is_listed_and_revoked_by_one_button(owner):
    eve, other = User.objects.create_user("eve"), User.objects.create_user("other")
    browsers, secrets, tokens = {}, {}, {}
    for user in (eve, other):
        roles.give(user, VIEWER)
        browsers[user] = Client()
        browsers[user].force_login(user)
        secrets[user] = make_address(own(user).pk, user.pk, now=timezone.now())
        tokens[user] = ApiToken(user=user, name=f"a script of {user}").save_with_secret()

    def gets_in(user):
        answers = (
            browsers[user].get("/tweets/"),
            owner.get(f"/feeds/{secrets[user]}/home.atom"),
            owner.get("/api/v1/users", headers={"Authorization": f"Bearer {tokens[user]}"}),
        )
        return [answer.status_code == 200 for answer in answers]

    page = owner.get(f"{USERS}{eve.pk}/change/").content.decode()
    assert "a script of eve, read, made" in page
    assert "home of eve, made" in page
    [session] = sessions_of(eve)
    assert f"until {localize(session.expire_date)}" in page
    assert ">Revoke all<" in page
    chosen = {"action": "revoke_all", "_selected_action": eve.pk}
    assert "of 1 user, and end all sessions?" in owner.post(USERS, chosen).content.decode()
    assert gets_in(eve) == [True, True, True]

    answer = owner.post(USERS, {**chosen, "sure": "yes"}, follow=True)

    assert [str(message) for message in answer.context["messages"]] == [
        "eve: revoked 1 token and 1 feed address, and ended 1 session."
    ]
    assert gets_in(eve) == [False, False, False]
    assert gets_in(other) == [True, True, True]
    assert LogEntry.objects.get(object_id=eve.pk, content_type__model="user").user.username == "kim"


def test_an_owner_cannot_revoke_what_an_administrator_has(owner):
    root, browser = User.objects.create_superuser("root"), Client()
    browser.force_login(root)

    chosen = {"action": "revoke_all", "_selected_action": root.pk, "sure": "yes"}
    assert owner.post(USERS, chosen).status_code == 403

    assert browser.get("/tweets/").status_code == 200


def test_the_last_owner_cannot_lock_himself_out(client, owner):
    """Neither give up the role, nor the account."""
    kim = User.objects.get()
    for change in ({"role": ""}, {"is_active": ""}):
        refused = client.post(f"{USERS}{kim.pk}/change/", typed(kim, **change))
        assert "last account that can change accounts" in refused.content.decode(), change
    assert client.post(f"{USERS}{kim.pk}/delete/", {"post": "yes"}).status_code == 403

    roles.give(User.objects.create_user("lee"), OWNER)
    client.post(f"{USERS}{kim.pk}/change/", typed(kim, role=""))
    assert roles.roles_of(kim) == []


def typed(user, **change):
    """The form as it is, but for this."""
    [role] = roles.roles_of(user)
    joined = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    form = {"username": user.username, "is_active": "on", "role": role}
    return {name: value for name, value in {**form, **joined, **change}.items() if value}
