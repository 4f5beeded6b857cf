"""One's own account: name and address, what lets somebody in, a copy of it all, and its end."""

import json
import re
from datetime import timedelta

import pytest
from django.conf import settings as conf
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.db.models import ForeignKey
from django.test import Client
from django.utils import timezone
from django_q.models import OrmQ

from tests.alerts.conftest import rule
from tests.alerts.mail_servers import Box, listening
from tests.channels.push import Browser
from tests.channels.sending import channel
from trackers import roles, tasks
from trackers.alerts.models import AlertDigest, AlertMail, AlertNotice, AlertRule, AlertsRead
from trackers.alerts.notice import post
from trackers.channels.models import Channel, QuietHours
from trackers.dashboards.models import Column
from trackers.history import on_page
from trackers.notes.models import Note
from trackers.saved_views.models import SavedView
from trackers.shares.models import Share
from trackers.timelines.models import Follower
from trackers.tokens import acts
from trackers.tokens.feed_addresses import make_address
from trackers.tokens.models import ApiToken, FeedAddress, Preferences, TimeFormat
from trackers.tokens.stored import stored_about

RIGHT = "a password of no account"
ADDRESS = "vera@here.example"


@pytest.fixture(autouse=True)
def _quick_hashes(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def vera():
    user = User.objects.create_user("vera", ADDRESS, RIGHT, first_name="Vera")
    roles.give(user, roles.OPERATOR)
    User.objects.create_superuser("root")
    return user


@pytest.fixture
def page(vera, client):
    client.post("/login/", {"username": "vera", "password": RIGHT})
    return client


def text_of(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def furnished(user):
    """All that an account may have."""
    token = ApiToken(user=user, name="phone", scope="read")
    secrets = [token.save_with_secret()]
    home = Follower.objects.create(user=user)
    secrets.append(make_address(home.pk, user.pk, now=timezone.now()))
    share = Share.objects.create(
        kind="set", of="all/all", made_by=user, ends_at=timezone.now() + timedelta(days=1)
    )
    secrets.append(share.key)
    TimeFormat.objects.create(user=user, zone="Asia/Kathmandu")
    AlertDigest.objects.create(user=user)
    AlertsRead.objects.create(user=user, place=0)
    Preferences.objects.create(user=user)
    QuietHours.objects.create(user=user, begins="22:00", ends="07:30")
    SavedView.objects.create(user=user, name="Mine", query="q=moon")
    team = Group.objects.create(name="Press")
    user.groups.add(team)
    SavedView.objects.create(user=user, name="Ours", query="q=sun", team=team)
    Column.objects.create(user=user, position=1)
    Note.objects.create(
        kind="day", key="2026-03-14", text="Launch", at=timezone.now(), written_by=user
    )
    rule("trouble", name="Rocket", made_by=user, to=["ops@here.example", user.email])
    own = rule("trouble", name="Comet", owner=user, by_event=False, to_owner=True)
    own.channels.add(channel("slack", "https://chat.example", "vera: phone", owner=user))
    secrets.append("/services/")
    lines = [{"what": "Late.", "url": "/", "state": "down", "kind": "queue", "of": "x"}]
    notice = AlertNotice.objects.create(
        rule=own, rule_name="Comet", owner=user, at=timezone.now(), lines=lines
    )
    post(notice, [user.email], now=timezone.now())
    return secrets


def test_name_and_address_change_and_a_new_address_is_asked_first(vera, page, settings):
    box = Box()
    typed = {"first_name": "Vera", "last_name": "Rubin", "email": "new@here.example"}
    with listening(box) as settings.EMAIL_SERVER:
        done = page.post("/account/person/", typed, follow=True)
        assert "A link is on its way to new@here.example. Until you open it" in text_of(done)
        vera.refresh_from_db()
        assert (vera.last_name, vera.email) == ("Rubin", ADDRESS)
        [task] = [one.func() for one in OrmQ.objects.all()]
        assert task == "trackers.tasks.send_address_link"
        tasks.send_address_link(vera.pk, "new@here.example")
    [message] = box.got
    assert message["To"] == "new@here.example"
    [path] = re.findall(r"https?://[^/]+(/account/email/\S+)", box.texts[0])

    assert "e-mails go to new@here.example" in text_of(page.get(path))
    vera.refresh_from_db()
    assert vera.email == ADDRESS, "a mailbox that opens links confirms nothing"

    page.post(path)
    vera.refresh_from_db()
    assert vera.email == "new@here.example"
    assert "This link has been used" in text_of(page.post(path))


def test_a_link_for_an_address_is_of_one_account(vera, page, settings):
    box = Box()
    with listening(box) as settings.EMAIL_SERVER:
        tasks.send_address_link(vera.pk, "new@here.example")
    [path] = re.findall(r"https?://[^/]+(/account/email/\S+)", box.texts[0])
    eve = Client()
    eve.force_login(User.objects.create_user("eve"))

    assert "sent for another account" in text_of(eve.post(path))
    assert "sent for another account" in text_of(page.post(f"{path[:-3]}x/"))
    assert not User.objects.filter(email="new@here.example").exists()


def test_without_a_mail_server_the_address_cannot_change(vera, page, settings):
    settings.EMAIL_SERVER = None

    assert "No e-mail can be sent from here" in text_of(page.get("/account/person/"))
    page.post("/account/person/", {"first_name": "V", "last_name": "", "email": "x@here.example"})

    vera.refresh_from_db()
    assert (vera.first_name, vera.email) == ("V", ADDRESS)


def test_each_login_token_address_and_share_has_an_end(vera, page):
    furnished(vera)
    elsewhere = Client(headers={"user-agent": "Phone"})
    elsewhere.post("/login/", {"username": "vera", "password": RIGHT})
    shown = page.get("/account/").content.decode()
    ends = re.findall(r'action="(/account/(?:logins|tokens|feeds|shares)/\d+/end)"', shown)
    assert sorted(one.split("/")[2] for one in ends) == ["feeds", "logins", "shares", "tokens"]

    for end in ends:
        page.post(end)

    assert not FeedAddress.objects.exists()
    assert ApiToken.objects.get().revoked_at is not None
    assert Share.objects.get().ended_at is not None
    assert elsewhere.get("/account/").status_code == 302
    assert page.get("/account/").status_code == 200
    assert "Nothing: you have no API token" in text_of(page.get("/account/"))
    done = {line.change_message for line in LogEntry.objects.filter(user=vera)}
    assert done >= {
        "Ended a login, on a page.", "Revoked, on a page.", "Ended, on a page.",
        "Revoked a secret feed address, on a page.",
    }  # fmt: skip


def test_a_person_ends_nothing_of_others(vera, page):
    eve = User.objects.create_user("eve", "eve@here.example")
    furnished(eve)
    rows = {
        "tokens": ApiToken.objects.get().pk,
        "feeds": FeedAddress.objects.get().pk,
        "shares": Share.objects.get().pk,
    }

    for what, id in rows.items():
        page.post(f"/account/{what}/{id}/end")

    assert ApiToken.objects.get().revoked_at is None
    assert FeedAddress.objects.exists()
    assert Share.objects.get().ended_at is None
    assert page.post("/account/teams/1/end").status_code == 404


def test_a_copy_of_an_account_has_no_secrets(vera, page):
    secrets = furnished(vera)

    answer = page.post("/account/stored")

    assert "account-vera-" in answer["Content-Disposition"]
    stored = json.loads(answer.content)
    assert stored["account"]["email"] == ADDRESS
    assert stored["times"]["zone"] == "Asia/Kathmandu"
    assert [one["name"] for one in stored["saved_views"]] == ["Mine", "Ours"]
    assert stored["notes"][0]["text"] == "Launch"
    assert [(one["name"], one["is_own"]) for one in stored["alert_rules"]] == [
        ("Comet", True), ("Rocket", False),
    ]  # fmt: skip
    assert stored["quiet_hours"] == {"begins": "22:00:00", "ends": "07:30:00"}
    assert [one["name"] for one in stored["channels"]] == ["vera: phone"]
    assert stored["own_alerts"][0]["lines"][0]["what"] == "Late."
    assert stored["api_tokens"][0]["name"] == "phone"
    assert stored["account"]["roles_and_teams"] == ["Press", "operator"]
    text = answer.content.decode()
    digests = [ApiToken.objects.get().digest, FeedAddress.objects.get().digest, vera.password]
    assert not [one for one in [*secrets, *digests] if one in text]
    assert page.get("/account/stored").status_code == 405


def test_the_copy_has_each_table_about_people(vera):
    """Whoever adds a model with a person adds it to `stored`, and to what closing ends."""
    known = {
        "logentry": "acts", "apitoken": "api_tokens", "feedaddress": "feed_addresses",
        "timeformat": "times", "preferences": "pages",
        "alertrule": "alert_rules", "alertdigest": "digest",
        "alertsread": "alerts_read",
        "note": "notes", "follower": "follows", "savedview": "saved_views", "column": "columns",
        "overviewvisit": "overview_last_seen", "share": "shares", "authenticator": "factors",
        "channel": "channels", "usersession": "logins", "alertnotice": "own_alerts",
        "quiethours": "quiet_hours",
        "socialaccount": "linked_logins",
        # Not used: an address is the account's own.
        "emailaddress": "account",
    }  # fmt: skip
    stored = stored_about(vera)

    of_people = {
        one.related_model._meta.model_name
        for one in User._meta.get_fields(include_hidden=True)
        if one.auto_created and not one.concrete and isinstance(one.field, ForeignKey)
        and not one.related_model._meta.auto_created
    }  # fmt: skip

    assert of_people == known.keys()
    assert set(known.values()) <= stored.keys()


def close(page, name="vera"):
    return page.post("/account/close/", {"name": name})


def test_a_closed_account_is_anonymous(vera, page):
    furnished(vera)
    other = Client()
    other.post("/login/", {"username": "vera", "password": RIGHT})
    notice = AlertNotice.objects.create(kind="test", at=timezone.now())
    AlertMail.objects.create(
        notice=notice, to="Vera@here.example", made_at=timezone.now(), next_at=timezone.now()
    )
    acts.set_name(vera, on_page(vera), first_name="Vera", last_name="R")
    assert "This is not your user name." in text_of(close(page, "eve"))

    asked = close(page)
    assert asked.headers["Location"] == "/account/confirm/?next=%2Faccount%2Fclose%2F"
    page.post("/account/confirm/", {"password": RIGHT})
    led = close(page)

    assert led.headers["Location"] == "/account/closed/", text_of(led)
    assert "Your account is closed" in text_of(Client().get("/account/closed/"))
    closed = User.objects.get(pk=vera.pk)
    assert (closed.username, closed.email, closed.first_name) == (f"closed-{vera.pk}", "", "")
    assert not closed.is_active
    assert not closed.is_staff
    assert not closed.groups.exists()
    assert Client().post("/login/", {"username": "vera", "password": RIGHT}).status_code == 200
    assert [one.get("/account/").status_code for one in (page, other)] == [302, 302]
    assert not Session.objects.filter(session_key=other.cookies[conf.SESSION_COOKIE_NAME]).exists()
    # A team's view, the note and the rule stay; what was the person's alone is gone.
    assert [view.name for view in SavedView.objects.all()] == ["Ours"]
    assert Note.objects.get().written_by == closed
    assert AlertRule.objects.get().to == ["ops@here.example"]
    assert not AlertMail.objects.exists()
    assert not Channel.objects.exists()
    assert list(AlertNotice.objects.all()) == [notice], "the own ones went with the account"
    for gone in (
        AlertDigest, AlertsRead, Preferences, TimeFormat, QuietHours, Column, Follower, FeedAddress,
    ):  # fmt: skip
        assert not gone.objects.exists(), gone
    assert ApiToken.objects.get().revoked_at is not None
    assert Share.objects.get().ended_at is not None
    lines = LogEntry.objects.filter(user=closed).order_by("pk")
    assert [one.change_message for one in lines][-1] == "Closed the account, on a page."
    assert not LogEntry.objects.filter(object_repr="vera").exists(), "the history is kept, unnamed"


def test_the_last_account_that_gives_access_cannot_be_closed(page, vera):
    User.objects.filter(username="root").update(is_active=False)
    roles.give(vera, roles.OWNER)

    assert "This is the last account that can change accounts" in text_of(
        page.get("/account/close/")
    )
    close(page)

    vera.refresh_from_db()
    assert vera.is_active


def test_a_browser_ends_with_its_login_or_by_its_button(page, vera, settings):
    settings.PUSH_HOSTS = ["push.example"]
    subscription = {"name": "phone", "endpoint": "https://push.example/1", **Browser().keys}
    page.post("/account/browsers/add", subscription)
    other = {"name": "desk", "endpoint": "https://push.example/2"}
    page.post("/account/browsers/add", {**subscription, **other})
    phone, desk = Channel.objects.order_by("pk")
    assert "vera: phone" in text_of(page.get("/account/"))

    page.post(f"/account/browsers/{phone.pk}/end")
    assert Channel.objects.get() == desk
    assert page.get(f"/alerts/channels/{desk.pk}/edit/").status_code == 403

    page.post("/logout/")
    assert not Channel.objects.exists(), "the browser of this login was the last one added"
    page.post("/login/", {"username": "vera", "password": RIGHT})
    page.post("/account/browsers/add", subscription)
    vera.delete()
    assert not Channel.objects.exists()


def test_the_manifest_and_the_worker_are_open(client, settings):
    manifest = client.get("/manifest.webmanifest")

    assert manifest.json()["display"] == "standalone"
    assert [icon["sizes"] for icon in manifest.json()["icons"]] == ["192x192", "512x512"]
    worker = client.get("/push-worker.js")
    assert worker.headers["Content-Type"].startswith("text/javascript")
    assert b"showNotification" in worker.content
