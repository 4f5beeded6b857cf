"""Logging in and out, a session that is over, and one's own account."""

import html

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client

from trackers import roles
from trackers.tokens.wrong_logins import BOTH

RIGHT = "a password of no account"


@pytest.fixture(autouse=True)
def _quick_hashes(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def person(*given_roles, **given):
    made = User.objects.create_user("eve", password=RIGHT, **given)
    made.groups.set(Group.objects.filter(name__in=given_roles))
    return made


def log_in(client, address="/login/", **given):
    return client.post(address, {"username": "eve", "password": RIGHT, **given})


@pytest.fixture
def viewer(client):
    client.force_login(person(roles.VIEWER))
    return client


def test_a_viewer_needs_no_staff_status(client):
    person(roles.VIEWER)

    answer = log_in(client, next="/sources/")

    assert answer.headers["Location"] == "/sources/"
    page = client.get("/sources/")
    assert page.status_code == 200
    assert 'href="/admin/"' not in page.content.decode()


def test_login_never_redirects_to_another_site(client):
    person(roles.VIEWER)

    for elsewhere in ("https://evil.example/", "//evil.example/", "javascript:alert(1)"):
        assert log_in(client, next=elsewhere).headers["Location"] == "/"
        client.logout()


def test_a_user_without_permissions_sees_who_can_help(client):
    User.objects.create_superuser("root")
    person()

    begins = log_in(client).headers["Location"]
    said = html.unescape(client.get(begins).content.decode())

    assert begins == "/account/"
    assert "may not see any page yet. root can give you a role" in said


def over(client):
    """The session has ended on the server; the browser still has its cookie."""
    Session.objects.all().delete()
    return client


def test_login_returns_to_the_page_of_the_expired_session(viewer):
    login = over(viewer).get("/sources/?page=2").headers["Location"]
    said = viewer.get(login).content.decode()

    assert "Your session has ended." in said
    assert "was not done" not in said
    assert log_in(viewer, login, next="/sources/?page=2").headers["Location"] == "/sources/?page=2"


def test_a_refresh_in_an_expired_session_leads_the_page_to_the_login(viewer):
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/?q=moon"}

    answer = over(viewer).get("/tweets/?part=rows&q=moon", headers=headers)

    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["HX-Redirect"] == "/login/?next=/%3Fq%3Dmoon&over=1"


def test_a_form_sent_in_an_expired_session_is_not_done_and_says_so(viewer):
    headers = {"Referer": "http://testserver/sources/?page=2"}

    login = over(viewer).post("/sources/5/pause", headers=headers).headers["Location"]

    assert login == "/login/?next=/sources/%3Fpage%3D2&over=1&lost=1"
    assert "What you sent last was not done" in viewer.get(login).content.decode()


def test_another_site_cannot_set_where_login_returns_to(client):
    for headers in (
        {"HX-Request": "true", "HX-Current-URL": "https://evil.example/"},
        {"HX-Request": "true"},
    ):
        answer = client.get("/tweets/?part=rows", headers=headers)
        assert answer.headers["HX-Redirect"] == "/login/?next=/"
    answer = client.post("/sources/5/pause", headers={"Referer": "https://evil.example/"})
    assert answer.headers["Location"] == "/login/?next=/&lost=1"


def test_data_for_scripts_is_refused_as_json(client):
    assert client.get("/tweets/5/series.json").json() == {"error": "Log in first."}


def test_logging_out_ends_the_session(viewer):
    assert viewer.get("/logout/").status_code == 405

    assert viewer.post("/logout/").headers["Location"] == "/login/"
    assert viewer.get("/").status_code == 302
    assert viewer.post("/logout/").headers["Location"] == "/login/", "twice is no fault"


def test_the_admin_uses_the_login_of_the_pages(client):
    eve = person(roles.OPERATOR)

    asked = client.get("/admin/trackers/tweet/").headers["Location"]
    assert asked == "/login/?next=/admin/trackers/tweet/"
    assert client.get("/admin/login/?next=/admin/").headers["Location"] == "/login/?next=/admin/"

    User.objects.create_superuser("root")
    client.force_login(eve)
    refused = client.get("/admin/", follow=True)
    assert refused.status_code == 403
    assert "root can give it to you" in html.unescape(refused.content.decode())

    roles.give(eve, roles.OPERATOR)
    assert client.get("/admin/").status_code == 200
    refused = client.get("/admin/trackers/credential/add/")
    assert refused.status_code == 403
    assert "root can give it the permission" in html.unescape(refused.content.decode())
    assert client.post("/admin/logout/").headers["Location"] == "/login/"


def change(client, old, new):
    given = {"oldpassword": old, "password1": new, "password2": new}
    return client.post("/account/password/", given)


def test_changing_a_password_logs_other_browsers_out(viewer):
    other = Client()
    log_in(other)
    assert other.get("/").status_code == 200
    viewer.post("/login/", {"username": "eve", "password": RIGHT})

    assert change(viewer, RIGHT, "of no account either").headers["Location"] == "/account/"

    assert viewer.get("/account/").status_code == 200
    assert other.get("/").status_code == 302
    assert LogEntry.objects.get().change_message == "Changed their own password, on a page."


def test_guessing_the_old_password_while_changing_it_is_slowed(viewer):
    for _ in range(BOTH.free):
        assert "entered incorrectly" in change(viewer, "guess", "x").content.decode()
    # The wait of a second would be over on a busy machine before the next request comes.
    with connection.cursor() as db:
        db.execute("UPDATE trackers_wronglogin SET last_at = last_at + interval '1 hour'")

    page = change(viewer, RIGHT, "of no account either").content.decode()

    assert "Too many wrong passwords" in page
    assert User.objects.get().check_password(RIGHT)


def test_a_form_from_before_the_login_is_refused_with_what_to_do():
    strict = Client(enforce_csrf_checks=True)

    answer = strict.post("/login/", {"username": "eve", "password": RIGHT})

    assert answer.status_code == 403
    assert "reload it and try again" in answer.content.decode()
