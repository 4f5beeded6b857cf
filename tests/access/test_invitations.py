"""Invitations: a link to set the first password with, made by a command or in the admin."""

import json
import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from trackers import roles
from trackers.roles import OPERATOR, OWNER

pytestmark = pytest.mark.django_db
PASSWORD = "of no account at all"
USERS = "/admin/auth/user/"


@pytest.fixture(autouse=True)
def _here(settings):
    settings.PUBLIC_URL, settings.SECURE_SSL_REDIRECT = "http://testserver", False
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def set_password(link):
    """As the person does it; returns where that leads, or None where the link is refused."""
    client = Client()
    page = client.get(link.removeprefix("http://testserver"))
    if page.status_code != 302:
        return None
    sent = {"password1": PASSWORD, "password2": PASSWORD}
    return client.post(page.headers["Location"], sent).headers["Location"]


def test_an_invited_person_sets_a_password_once_and_logs_in(client, capsys):
    call_command("user", "invite", "eve", "--role", "operator", "--email", "e@here.example")
    out, err = capsys.readouterr()
    link = out.strip()
    eve = User.objects.get(username="eve")
    assert "within three days" in err
    assert not eve.has_usable_password()

    assert set_password(link) == "/password/done/"
    assert set_password(link) is None
    client.post("/login/", {"username": "eve", "password": PASSWORD})
    assert client.get("/tweets/").status_code == 200
    assert roles.roles_of(eve) == [OPERATOR]
    assert link not in "".join(entry.change_message for entry in LogEntry.objects.all())


def test_a_second_invitation_of_a_name_is_refused(capsys):
    call_command("user", "invite", "eve", "--json")
    assert json.loads(capsys.readouterr().out)["name"] == "eve"
    with pytest.raises(CommandError, match="already exists"):
        call_command("user", "invite", "eve")


def pick(client, *users):
    sent = {"action": "link", "_selected_action": [str(user.pk) for user in users]}
    return client.post(USERS, sent)


def test_an_owner_makes_a_link_in_the_admin_but_for_no_administrator(client):
    kim, root = User.objects.create_user("kim"), User.objects.create_superuser("root")
    roles.give(kim, OWNER)
    client.force_login(kim)
    eve = User.objects.create_user("eve")

    page = pick(client, eve)
    link = re.search(r"http://testserver/password/\S+?/\S+?/", page.content.decode())[0]
    assert "no-store" in page.headers["Cache-Control"]
    assert pick(client, root).status_code == 403
    assert set_password(link) == "/password/done/"

    User.objects.filter(pk=eve.pk).update(is_active=False)
    assert "not active" in client.get(pick(client, eve).headers["Location"]).content.decode()
