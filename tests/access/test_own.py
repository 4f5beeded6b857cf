"""What is a person's own stands at no door of anybody else: each address of the URL conf is asked
by an administrator, and each call of the API with the token of one.

The rows have the ids that stand for a part of an address, so whoever adds a page or a call is here.
"""

import json

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from tests.access.test_matrix import LEAVING, STANDS_FOR, addresses
from tests.access.test_programs import calls
from tests.api.conftest import Program, end
from tests.channels.sending import channel, tell
from tests.stored_events import subscribe
from trackers import roles
from trackers.alerts.acts import mute_rule
from trackers.alerts.models import AlertMute, AlertNotice, AlertRule
from trackers.alerts.notice import post
from trackers.channels.links import mute_key
from trackers.channels.models import Channel, ChannelMessage
from trackers.history import on_page

pytestmark = pytest.mark.django_db
ID = int(STANDS_FOR["int"])
# Of the rule, of what it raised, of the channel, and where that is.
MARKS = ("Zyx rule", "Zyx alert", "Zyx phone", "zyx.example")


@pytest.fixture
def vera():
    user = User.objects.create_user("vera", email="vera@here.example")
    roles.give(user, roles.VIEWER)
    mine = channel("slack", "https://chat.example", "vera: Zyx phone", id=ID, owner=user)
    Channel.objects.update(place="zyx.example")
    rule = AlertRule.objects.create(
        pk=ID, name="Zyx rule", kind="trouble", owner=user, made_by=user, by_event=False,
        to_owner=True,
    )  # fmt: skip
    rule.channels.add(mine)
    lines = [
        {"what": "Zyx alert", "url": "/tweets/1/", "state": "down", "kind": "queue", "of": "x"}
    ]
    notice = AlertNotice.objects.create(
        pk=ID, rule=rule, rule_name=rule.name, owner=user, at=timezone.now(), lines=lines
    )
    post(notice, [user.email], now=timezone.now())
    tell(mine, title="Zyx rule", notice=notice)
    mute_rule(rule, on_page(user), hours=1)
    AlertMute.objects.update(id=ID)
    subscribe("alerts")
    return user


@pytest.fixture
def root():
    return User.objects.create_superuser("root", "root@here.example", "secret")


def shown(answer):
    end(answer)
    body = b"".join(answer) if answer.streaming else answer.content
    return [mark for mark in MARKS if mark in body.decode(errors="replace")]


def pages(user):
    client = Client()
    client.force_login(user)
    return client


def test_no_page_shows_another_person_what_is_ones_own(vera, root):
    client, shown_on = pages(root), []
    for route, address in addresses().items():
        if address in LEAVING:
            continue
        if marks := shown(client.get(address, headers={"Accept": "text/html"}, secure=True)):
            shown_on.append((route, marks))
    # Where the person sees it, so that the marks are those that would be seen.
    for address in ("/alerts/", "/alerts/log/", f"/alerts/{ID}/", f"/alerts/channels/{ID}/"):
        assert shown(pages(vera).get(address, secure=True))

    assert shown_on == []


@pytest.mark.parametrize(
    "address",
    [
        *(f"/alerts/{ID}/", f"/alerts/{ID}/edit/", f"/alerts/channels/{ID}/"),
        *(f"/alerts/channels/{ID}/edit/", f"/admin/trackers/alertnotice/{ID}/change/"),
        f"/admin/trackers/alertrule/{ID}/history/",
    ],
)
def test_another_persons_own_is_not_there(vera, root, address):
    answer = pages(root).get(address, secure=True)
    # The admin leads to its first page from what is not there.
    assert answer.status_code == (302 if address.startswith("/admin/") else 404)
    assert not shown(answer)


def test_no_other_person_acts_on_ones_own(vera, root):
    client = pages(root)
    for act in ("test", "on", "off", "mute-hour", "mute-day", "unmute", "remove"):
        assert client.post(f"/alerts/{ID}/{act}", {"sure": "yes"}, secure=True).status_code == 404
    for act in ("test", "mute", "unmute", "remove"):
        path = f"/alerts/channels/{ID}/{act}"
        assert client.post(path, {"sure": "yes"}, secure=True).status_code == 404
    assert client.post(f"/alerts/muted/{ID}/end", secure=True).status_code == 404
    link = f"/alerts/mute/{mute_key(ChannelMessage.objects.get().pk)}/"
    offered = client.get(link, secure=True).content.decode()
    assert "Mute what?" in offered
    assert f"rule-{ID}-1" not in offered
    assert AlertRule.objects.get().enabled
    assert AlertMute.objects.exists()
    assert f"rule-{ID}-1" in pages(vera).get(link, secure=True).content.decode()


def test_no_call_answers_another_persons_token_with_ones_own(client, vera, root):
    program, own = Program(client, root), Program(client, vera)
    told_by = []
    for call, (method, address, body) in calls().items():
        path = address.format(
            follower="me", source=1, account=42, name="news", id=ID, new=1, queue="tweet:update",
            note=ID, share=ID, view=ID, channel=ID, rule=ID, kind="author", key=42,
        )  # fmt: skip
        if method == "GET" or "channel}" in address or "rule}" in address:
            answer = program.raw(path, method, json.loads(body) if body.strip() else None)
            if "channel}" in address or "rule}" in address:
                assert answer.status_code == 404, call
            if marks := shown(answer):
                told_by.append((call, marks))
    assert told_by == []
    assert [one["name"] for one in own.get("alerts/rules")["rules"]] == ["Zyx rule"]
    assert [one["name"] for one in own.get("channels")["channels"]] == ["vera: Zyx phone"]


def test_the_history_does_not_name_ones_own_rule(vera):
    page = pages(vera)
    page.post(f"/alerts/{ID}/off", secure=True)
    page.post(f"/alerts/channels/{ID}/mute", secure=True)
    page.post(f"/alerts/{ID}/remove", {"sure": "yes"}, secure=True)
    lines = [(one.object_repr, one.change_message) for one in LogEntry.objects.order_by("pk")]
    assert lines[-3:] == [
        ("vera", "An alert rule of their own: switched off, on a page."),
        ("vera", "A channel of their own: muted for an hour, on a page."),
        ("vera", "An alert rule of their own: removed, on a page."),
    ]


def test_deleting_an_account_in_the_admin_counts_what_goes_and_names_nothing(vera, root):
    answer = pages(root).get(f"/admin/auth/user/{vera.pk}/delete/", secure=True)
    assert answer.status_code == 200
    assert not shown(answer)
    pages(root).post(f"/admin/auth/user/{vera.pk}/delete/", {"post": "yes"}, secure=True)
    assert not AlertRule.objects.exists()
    assert not Channel.objects.exists()
    assert not AlertNotice.objects.exists()
