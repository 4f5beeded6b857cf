"""How many alerts a person has not read: in the menu, on the pages of alerts, and until when."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.alerts.conftest import rule
from tests.pages.channels.db.test_channels import words
from trackers import roles
from trackers.alerts.models import AlertDigest, AlertNotice, AlertsRead
from trackers.alerts.unread import mark_read, place_of

pytestmark = pytest.mark.django_db
TICK = "/operations/paused/"


def alerts(count, *, kind="alert", **given):
    now = timezone.now()
    made = (AlertNotice(kind=kind, rule_name="Fast", at=now, **given) for _ in range(count))
    return AlertNotice.objects.bulk_create(made)


def person(name, role=roles.VIEWER):
    user = User.objects.create_user(name)
    roles.give(user, role)
    return user


def pages_of(user):
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def vera():
    return person("vera")


@pytest.fixture
def page(vera):
    return pages_of(vera)


def told(page, address=TICK):
    """What is beside *Alerts*."""
    text = page.get(address).content.decode()
    assert 'id="unread"' in text
    return text.partition('id="unread" class="unread">')[2].partition("<")[0]


def test_the_menu_counts_what_came_since_a_person_opened_the_log(page):
    assert told(page) == ""
    alerts(3)
    assert told(page) == told(page, "/tweets/") == "3"

    log = words(page.get("/alerts/log/"))

    assert log.count("unread") == 3
    assert told(page) == ""
    assert "unread" not in words(page.get("/alerts/log/"))


def test_each_person_has_read_for_themselves(page):
    other = pages_of(person("otto"))
    alerts(2)
    page.get("/alerts/log/")
    assert (told(page), told(other)) == ("", "2")


def test_a_button_marks_what_the_page_showed_and_no_more(page):
    first, second = alerts(2)
    shown = page.get("/alerts/").content.decode()
    assert f'name="until" value="{second.pk}"' in shown
    assert words(page.get("/alerts/")).count("unread") == 3  # and the menu
    alerts(1)

    answer = page.post("/alerts/read", {"until": second.pk}, follow=True)

    assert told(page) == "1"
    assert words(answer).count("unread") == 2
    page.post("/alerts/read", {"until": first.pk})
    assert told(page) == "1", "nothing becomes unread again"


def test_a_place_is_never_beyond_the_newest_alert(page, vera):
    [last] = alerts(1)
    page.post("/alerts/read", {"until": 10**17})
    assert AlertsRead.objects.get(user=vera).place == last.pk
    for nonsense in ("", "x", "1" * 19, "-1", "١"):
        assert page.post("/alerts/read", {"until": nonsense}).status_code == 400


def test_a_look_at_older_lines_or_at_the_head_alone_reads_nothing(page):
    rows = alerts(60)
    page.head("/alerts/log/")
    page.get(f"/alerts/log/?before={rows[5].pk}")
    assert told(page) == "60"


def test_ninety_nine_is_the_most_that_is_counted(page):
    alerts(99)
    assert told(page) == "99"
    alerts(1)
    assert told(page) == "99+"


def test_tests_and_digests_are_not_counted(page, vera):
    alerts(1, kind="test")
    alerts(1, kind="digest", digest=AlertDigest.objects.create(user=vera))
    assert told(page) == ""
    assert "unread" not in words(page.get("/alerts/"))


def test_an_account_begins_with_the_alerts_of_its_time(vera, page):
    [old] = alerts(1)
    AlertNotice.objects.filter(pk=old.pk).update(at=vera.date_joined - timedelta(hours=1))
    alerts(1)
    assert told(page) == "1"
    assert place_of(vera) == old.pk
    mark_read(vera, old.pk)
    assert not AlertsRead.objects.exists()


def test_the_page_of_a_rule_marks_them_too(page):
    made = rule("velocity", name="Fast", metric="likes", at=5)
    alerts(1, rule=made)
    assert words(page.get(f"/alerts/{made.pk}/")).count("unread") == 2
    assert told(page) == "1"


def test_a_person_who_cannot_see_alerts_has_no_count():
    alerts(2)
    user = User.objects.create_user("tom")
    user.user_permissions.add(Permission.objects.get(codename="view_tweet"))
    page = pages_of(user)
    with CaptureQueriesContext(connection) as asked:
        shown = page.get(TICK).content.decode()
    assert "unread" not in shown
    assert 'id="unread"' not in page.get("/tweets/").content.decode()
    assert not [one for one in asked if "alertnotice" in one["sql"]]
    assert page.post("/alerts/read", {"until": 1}).status_code == 403


def test_the_count_costs_the_same_whatever_is_in_the_log(page):
    alerts(1)
    with CaptureQueriesContext(connection) as few:
        page.get(TICK)
    alerts(500)
    with CaptureQueriesContext(connection) as many:
        page.get(TICK)
    assert len(few) == len(many)
