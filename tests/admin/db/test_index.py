"""The admin's first page: what an owner does most often, then all that can be set up."""

import re

import pytest
from django.contrib.auth.models import User

from trackers import roles

TASKS = {
    "Add a credential": "/admin/trackers/credential/add/",
    "Set a budget": "/admin/trackers/project/",
    "Invite somebody": "/admin/auth/user/",
    "Change the intervals": "/admin/trackers/interval/",
    "Make an API token": "/admin/trackers/apitoken/add/",
}


def tasks_of(page):
    [panel] = re.findall(r'<nav class="tasks".*?</nav>', page, re.DOTALL)
    links = re.findall(r'<a href="([^"]+)">([^<]+)</a>', panel)
    return {words: address for address, words in links}


def test_an_owner_finds_the_five_tasks_first_and_libraries_last(admin_client):
    page = admin_client.get("/admin/").content.decode()

    assert tasks_of(page) == TASKS
    apps = re.findall(r'<div class="app-(\w+) module', page)
    assert apps[:2] == ["trackers", "auth"]
    assert apps[-1] == "django_q"


@pytest.mark.parametrize("role", roles.IN_THE_ADMIN)
def test_each_task_opens_for_those_to_whom_it_is_offered(client, role):
    user = User.objects.create_user("ada")
    roles.give(user, role)
    client.force_login(user)

    for address in tasks_of(client.get("/admin/").content.decode()).values():
        assert client.get(address).status_code == 200
