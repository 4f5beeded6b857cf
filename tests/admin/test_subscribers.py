"""Subscribers in the admin: the page's form and rules, keys shown once, and the log of attempts."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.admin.conftest import act, said
from tests.events.conftest import books, deliver, subscriber, take, told
from trackers.events.models import Subscriber
from trackers.events.spread import spread

pytestmark = pytest.mark.django_db
LIST = "/admin/trackers/subscriber/"
ATTEMPTS = "/admin/trackers/loggedattempt/"
GIVEN = {
    **{"name": "shop", "callback": "https://shop.example/in", "topics": ["tweets"]},
    **{"max_events": "100", "timeout_ms": "500", "concurrency": "4", "format": "routemaster"},
    **{"metric": "", "newest_only": "on"},
}


def html(reply):
    assert reply.status_code == 200
    return reply.content.decode()


def test_one_is_added_by_the_same_rules_and_its_key_is_shown_once(staff):
    [callback] = re.findall('<input[^>]*name="callback"[^>]*>', html(staff.get(f"{LIST}add/")))
    # As wide as the admin's other addresses.
    assert 'class="vURLField"' in callback
    for field, value, says in (
        ("name", "<b>", "A name has 1 to 64"),
        ("callback", "http://shop.example/", "https://"),
        ("topics", [], "Choose at least one topic"),
        ("headers", "Host: a", "cannot be set: tweetwatch"),
    ):
        assert says in html(staff.post(f"{LIST}add/", {**GIVEN, field: value}))
    assert not Subscriber.objects.exists()

    reply = staff.post(f"{LIST}add/", {**GIVEN, "headers": "X-Room: hush"})

    one = Subscriber.objects.get()
    [key] = one.secrets["signing"]
    assert key in html(reply)
    assert "no-store" in reply["Cache-Control"]
    change = staff.get(f"{LIST}{one.pk}/change/")
    for page in (change, staff.get(LIST), staff.get(f"{LIST}{one.pk}/history/")):
        assert not re.search(r"whsec_|hush", html(page))


def test_what_may_be_edited_is_and_the_rest_stays(staff):
    one = subscriber("shop", ["orders"], secrets={"signing": ["whsec_x"], "uuid": "u"})

    given = {**GIVEN, "name": "other", "max_events": "7", "other_topics": "orders"}
    reply = staff.post(f"{LIST}{one.pk}/change/", given, follow=True)

    assert "changed successfully" in said(reply)[0]
    one.refresh_from_db()
    assert (one.name, one.max_events, one.callback) == ("shop", 7, GIVEN["callback"])
    assert dict(one.secrets) == {"signing": ["whsec_x"], "uuid": "u"}
    names = one.subscriptions.values_list("topic__name", flat=True)
    assert sorted(names) == ["orders", "tweets"]


def test_those_that_are_chosen_are_paused_resumed_tested_and_get_new_keys(staff):
    one, other = subscriber("one", secrets={"signing": ["whsec_x"]}), subscriber("other")

    assert "Paused 1" in said(act(staff, LIST, "pause", one.pk))[0]
    assert "other" not in rows(staff.get(f"{LIST}?stands=paused"))
    assert "one" not in rows(staff.get(f"{LIST}?stands=active"))
    assert "Resumed 1" in said(act(staff, LIST, "resume", one.pk))[0]
    assert "Sent 1" in said(act(staff, LIST, "send_test", one.pk))[0]
    spread()
    assert (books("one")[0], books("other")[0]) == (1, 0)

    reply = act(staff, LIST, "rotate_key", one.pk)

    one.refresh_from_db()
    new, old = one.secrets["signing"]
    assert (old, new in html(reply), other.pk) == ("whsec_x", True, other.pk)
    assert "no-store" in reply["Cache-Control"]


def rows(reply):
    return re.findall(r'field-name"><a [^>]+>([^<]+)<', html(reply))


def test_one_that_is_removed_leaves_what_is_on_its_way_to_its_end(staff):
    one = subscriber("shop", max_events=1)
    told(1, 2)
    [batch, _] = take(2)

    assert "shop" in html(staff.get(f"{LIST}{one.pk}/delete/"))
    staff.post(f"{LIST}{one.pk}/delete/", {"post": "yes"})

    assert not Subscriber.objects.filter(removed_at=None).exists()
    assert rows(staff.get(LIST)) == []
    assert deliver([batch]) == {batch.id}


def test_who_may_only_look_changes_nothing_and_sees_no_secret(client):
    one = subscriber("shop", secrets={"signing": ["whsec_x"], "headers": {"X-Room": "hush"}})
    reader = User.objects.create_user("reader", password="of no account", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_subscriber"))
    client.force_login(reader)

    assert not re.search(r"whsec_|hush", html(client.get(f"{LIST}{one.pk}/change/")))
    assert client.post(f"{LIST}{one.pk}/change/", GIVEN).status_code == 403
    client.post(LIST, {"action": "rotate_key", "_selected_action": [one.pk]})
    one.refresh_from_db()
    assert one.secrets["signing"] == ["whsec_x"]


def test_attempts_are_read_and_nothing_else(staff):
    subscriber("shop", max_events=1)
    told(1, 2)
    first, second = take(2)
    deliver([first], status=204)
    deliver([second], delivered=False, status=500, error="<b>It answered 500.</b>")

    page = html(staff.get(ATTEMPTS))

    assert "&lt;b&gt;It answered 500." in page
    assert str(first.uid) in page
    failed = html(staff.get(f"{ATTEMPTS}?outcome__exact=failed&subscriber={first.subscriber_id}"))
    assert (str(second.uid) in failed, str(first.uid) in failed) == (True, False)
    assert str(first.uid) not in html(staff.get(f"{ATTEMPTS}?subscriber=999"))
    assert staff.get(f"{ATTEMPTS}?subscriber=x").status_code == 200
    assert staff.get(f"{ATTEMPTS}add/").status_code == 403
    assert staff.post(ATTEMPTS, {"action": "delete_selected"}).status_code in (200, 302)


def test_the_lists_ask_as_much_however_many_there_are(staff):
    def asked(address):
        with CaptureQueriesContext(connection) as queries:
            staff.get(address)
        return len(queries)

    subscriber("a", max_events=1)
    told(1)
    deliver(take())
    few = asked(LIST), asked(ATTEMPTS)
    for name in "bcd":
        subscriber(name, ["news", "sports"], max_events=1)
    told(2, 3)
    deliver(take(), delivered=False)

    assert (asked(LIST), asked(ATTEMPTS)) == few


def test_a_lost_field_key_does_not_take_the_lists_away(staff, settings):
    subscriber("shop")
    told(1)
    deliver(take())
    settings.FIELD_KEYS = ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]

    assert "shop" in html(staff.get(LIST))
    assert "shop" in html(staff.get(ATTEMPTS))
