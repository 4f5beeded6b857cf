"""A forgotten password is replaced by a link in an e-mail, where a mail server is set."""

import re

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.urls import NoReverseMatch, reverse
from django_q.models import OrmQ

from tests.alerts.mail_servers import Box, listening
from tests.pages.db.test_session import RIGHT
from trackers import tasks

pytestmark = pytest.mark.django_db
NEW = "of no account at all"
ADDRESS = "eve@here.example"


@pytest.fixture
def eve():
    return User.objects.create_user("eve", ADDRESS, RIGHT)


@pytest.fixture
def box(settings):
    box = Box()
    with listening(box) as server:
        settings.EMAIL_SERVER, settings.PUBLIC_URL = server, "http://testserver"
        yield box


def ask(client, email=ADDRESS):
    return client.post("/password/", {"email": email})


def asked_for():
    """The accounts of the tasks that wait."""
    waiting = [row.task for row in OrmQ.objects.all()]
    return [task["args"][0] for task in waiting if task["func"].endswith("send_password_link")]


def link(client, eve, box):
    assert ask(client).headers["Location"] == "/password/sent/"
    assert asked_for() == [eve.pk]
    tasks.send_password_link(eve.pk)
    [text] = box.texts
    return re.search(r"http://testserver(/password/\S+)", text)[1]


def test_a_link_sets_a_new_password_once(client, eve, box):
    where = link(client, eve, box)
    assert box.got[0]["To"] == ADDRESS

    form = client.get(where, follow=True)
    page = form.redirect_chain[-1][0]
    assert where not in page
    done = client.post(page, {"password1": NEW, "password2": NEW})

    assert done.headers["Location"] == "/password/done/"
    assert User.objects.get().check_password(NEW)
    change = LogEntry.objects.get().change_message
    assert change == "Set a new password by a link in an e-mail, on a page."
    assert "has been used, or is too old" in Client().get(where).content.decode()


def test_the_sender_does_not_learn_who_has_an_account(client, eve, box):
    known, unknown = ask(client), ask(client, "nobody@here.example")

    assert (known.status_code, known.headers["Location"]) == (302, "/password/sent/")
    assert (unknown.status_code, unknown.headers["Location"]) == (302, "/password/sent/")
    assert asked_for() == [eve.pk]


def test_an_account_that_is_not_active_gets_no_link(client, eve, box):
    User.objects.update(is_active=False)

    ask(client)
    tasks.send_password_link(eve.pk)

    assert (asked_for(), box.got) == ([], [])


def test_one_address_cannot_be_flooded_whichever_process_counts(client, eve, box):
    answers = [ask(client).status_code for _ in range(6)]

    assert answers == [302] * 5 + [429]
    assert len(asked_for()) == 5
    with connection.cursor() as db:
        db.execute(
            "SELECT count(*) FROM trackers_cacheentry WHERE cache_key LIKE '%reset_password%'"
        )
        assert db.fetchone()[0] > 0
    cache.clear()
    assert ask(client).status_code == 302


def test_without_a_mail_server_there_is_no_link(client, eve, settings):
    settings.EMAIL_SERVER = None

    assert client.get("/password/").status_code == 403
    assert "/password/" not in client.get("/login/").content.decode()
    assert ask(client).status_code == 403
    assert asked_for() == []


def test_signing_up_has_no_address():
    for name in ("account_signup", "account_email"):
        with pytest.raises(NoReverseMatch):
            reverse(name)


def test_the_admin_has_no_table_of_django_allauth():
    admin.autodiscover()

    assert not [model for model in admin.site._registry if model.__module__.startswith("allauth")]
