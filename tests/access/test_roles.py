"""The roles: what they hold, that a `migrate` makes them anew, and that teams are left alone."""

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command

from trackers import roles
from trackers.roles import OPERATOR, OWNER, VIEWER
from trackers.timelines.followers import homes_of

pytestmark = pytest.mark.django_db


def held(name):
    found = Group.objects.get(name=name).permissions.all()
    return {f"{one.content_type.app_label}.{one.codename}" for one in found}


def test_each_role_includes_the_permissions_of_the_role_below_it():
    viewer, operator, owner = map(held, roles.ROLES)

    assert viewer < operator < owner
    assert all(one.startswith("trackers.view_") for one in viewer)


@pytest.mark.parametrize(
    "permission",
    ["change_interval", "change_project", "add_credential", "change_credential", "add_apitoken"],
)
def test_only_the_owner_may_spend_money_and_manage_accounts(permission):
    assert f"trackers.{permission}" not in held(OPERATOR)
    assert f"trackers.{permission}" in held(OWNER)


def test_others_cannot_see_tokens_and_secret_addresses():
    for model in ("apitoken", "feedaddress", "wronglogin"):
        assert f"trackers.view_{model}" not in held(OPERATOR)


def test_migrate_restores_the_roles_and_leaves_other_groups_alone():
    before = {role: held(role) for role in roles.ROLES}
    Group.objects.get(name=OWNER).delete()
    Group.objects.get(name=VIEWER).permissions.add(Permission.objects.get(codename="add_source"))
    team = Group.objects.create(name="newsroom")
    team.permissions.add(Permission.objects.get(codename="delete_tweet"))

    for _ in range(2):
        call_command("migrate", verbosity=0)

    assert {role: held(role) for role in roles.ROLES} == before
    assert held("newsroom") == {"trackers.delete_tweet"}


def test_a_new_role_replaces_the_old_one_and_sets_staff_status():
    eve = User.objects.create_user("eve")
    eve.groups.add(Group.objects.create(name="newsroom"))

    for role, opens in ((OPERATOR, True), (VIEWER, False), (OWNER, True)):
        roles.give(eve, role)
        assert (roles.roles_of(eve), eve.is_staff) == ([role], opens)
    roles.take(eve)

    assert (roles.roles_of(eve), eve.is_staff) == ([], False)
    assert eve.groups.get().name == "newsroom"


def test_granting_and_removing_roles_keeps_an_administrator_staff():
    root = User.objects.create_superuser("root")

    roles.give(root, VIEWER)
    roles.take(root)

    assert root.is_staff


def test_a_role_is_not_offered_as_a_team():
    eve = User.objects.create_user("eve")
    roles.give(eve, OPERATOR)
    eve.groups.add(Group.objects.create(name="newsroom"))

    assert [home.name for home in homes_of(eve)] == ["Home", "newsroom"]


def test_a_refusal_names_the_lowest_sufficient_role():
    assert roles.least_with("trackers.view_tweet") == VIEWER
    assert roles.least_with("trackers.delete_tweet") == OPERATOR
    assert roles.least_with("trackers.change_interval") == OWNER
    assert roles.least_with("trackers.nothing") is None
