"""A person adds a subscriber on a page, changes it, and has events delivered to it once more."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from tests.events.conftest import fanned_out, subscriber, take
from tests.events.delivering import delivering
from tests.events.receivers import Receiver, answers
from tests.pages.operations.db.test_subscribers import words
from trackers.events.models import Subscriber
from trackers.events.subscribers import acts
from trackers.history import by_command
from trackers.outbox.models import Topic

pytestmark = pytest.mark.django_db

ADD = "/subscribers/add/"
GIVEN = {"name": "shop", "callback": "https://shop.example/in", "topics": ["tweets"]}


def key_in(reply):
    return re.search(r"whsec_[A-Za-z0-9+/=]+", reply.content.decode())


def test_a_subscriber_is_added_and_its_key_is_shown_once(staff):
    assert 'name="callback"' in staff.get(ADD).content.decode()

    reply = staff.post(ADD, {**GIVEN, "other_topics": "orders, stock", "newest_only": "on"})

    key = key_in(reply)[0]
    shop = Subscriber.objects.get()
    assert shop.secrets["signing"] == [key]
    assert "no-store" in reply["Cache-Control"]
    assert "Send a test" in words(reply)
    names = shop.subscriptions.values_list("topic__name", flat=True)
    assert sorted(names) == ["orders", "stock", "tweets"]
    assert (shop.max_events, shop.timeout_ms, shop.format, shop.newest_only) == (
        100, 500, "routemaster", True
    )  # fmt: skip
    for page in ("/subscribers/", f"/subscribers/{shop.pk}/", f"/subscribers/{shop.pk}/edit/"):
        assert key not in staff.get(page).content.decode()
    # Asked for once more, as by a reload.
    assert "already exists" in words_of(staff.post(ADD, GIVEN))


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("name", "", "required"),
        ("name", "<script>alert(1)</script>", "A name has 1 to 64"),
        ("callback", "http://shop.example/", "https://"),
        ("callback", "https://u:p@shop.example/", "user name or a password"),
        ("callback", "https://shop.example/<script>", "characters that do not belong"),
        ("topics", [], "Choose at least one topic"),
        ("topics", ["other"], "not one of the available"),
        ("other_topics", "orders Stock9", "The name of a topic has"),
        ("other_topics", "<script>", "The name of a topic has"),
        ("max_events", "10001", "less than or equal to 10000"),
        ("timeout_ms", "-1", "greater than or equal to 0"),
        ("concurrency", "0", "greater than or equal to 1"),
        ("rate", "0", "greater than or equal to 1"),
        ("format", "xml", "not one of the available"),
        ("authors", "7, many", "Enter a whole number"),
        ("sources", str(2**70), "less than or equal to"),
        ("sources", "99", "There is no source 99."),
        ("at_least", "7", "Give a metric and its least figure"),
        ("metric", "likes", "Give a metric and its least figure"),
        ("headers", "Host: a", "cannot be set: tweetwatch"),
        ("headers", "X-Room", "Name: value"),
        ("headers", "X-Room: 7\0", "value of the header X-Room"),
        ("uuid", "a:b", "without a colon"),
    ],
)
def test_errors_are_shown_beside_their_fields_and_nothing_is_stored(staff, field, value, says):
    reply = staff.post(ADD, {**GIVEN, field: value})

    assert reply.status_code == 400
    assert says in words_of(reply)
    assert "<script>alert" not in reply.content.decode()
    assert not Subscriber.objects.exists()
    assert not Topic.objects.filter(name="orders").exists()


def test_headers_are_sent_to_the_receiver_and_shown_on_no_page(staff, settings, transactional_db):
    settings.EGRESS_PLAIN_HTTP = True
    receiver = Receiver(answers())
    fields = {**GIVEN, "callback": receiver.url, "timeout_ms": "0"}
    secret = "Bearer very-secret"

    failed = staff.post(ADD, {**fields, "headers": f"Authorization: {secret}", "name": "A"})
    assert secret not in failed.content.decode()
    assert "Enter the headers" in words_of(failed)
    staff.post(ADD, {**fields, "headers": f"Authorization: {secret}\r\nX-Room: 7\r\n\r\n"})
    shop = Subscriber.objects.get()
    with delivering():
        staff.post(f"/subscribers/{shop.pk}/test")
        wait_for(lambda: receiver.got)

    assert receiver.got[0].headers["authorization"] == secret
    assert receiver.got[0].headers["x-room"] == "7"
    page = staff.get(f"/subscribers/{shop.pk}/").content.decode()
    edit = staff.get(f"/subscribers/{shop.pk}/edit/").content.decode()
    assert "Authorization, X-Room" in page
    assert secret not in page + edit


def test_a_change_leaves_other_settings_alone(staff):
    hidden = {"signing": ["whsec_x"], "uuid": "u", "headers": {"X-Room": "7", "X-Key": "a"}}
    shop = subscriber("shop", ["tweets", "orders"], secrets=hidden)
    acts.pause(shop, by_command())
    edit = f"/subscribers/{shop.pk}/edit/"
    html = staff.get(edit).content.decode()
    assert 'value="orders"' in html
    assert "Leave empty to keep the current one." in html

    reply = staff.post(
        edit,
        {
            **{"name": "other", "callback": "https://new.example/in", "topics": "milestones"},
            **{"max_events": "7", "timeout_ms": "9", "concurrency": "2", "format": "cloudevents"},
            **{"without_headers": ["X-Room"], "headers": "x-key: b", "metric": "likes"},
            **{"at_least": "100", "authors": "1, 2", "with_data": "on", "rate": "50"},
        },
        follow=True,
    )

    assert "changed" in words(reply)
    shop.refresh_from_db()
    assert (shop.name, shop.callback, shop.max_events) == ("shop", "https://new.example/in", 7)
    assert (shop.authors, shop.metric, shop.at_least, shop.rate) == ([1, 2], "likes", 100, 50)
    assert dict(shop.secrets) == {"signing": ["whsec_x"], "uuid": "u", "headers": {"x-key": "b"}}
    assert shop.paused_at is not None
    assert [each.topic.name for each in shop.subscriptions.all()] == ["milestones"]
    rest = {"max_events": "7", "timeout_ms": "9", "concurrency": "2", "format": "cloudevents"}
    staff.post(edit, {**GIVEN, **rest, "metric": "", "without_uuid": "on"})
    shop.refresh_from_db()
    assert "uuid" not in shop.secrets


def test_a_new_key_is_shown_once(staff):
    shop = subscriber("shop", secrets={"signing": ["whsec_x"]})

    asked = staff.post(f"/subscribers/{shop.pk}/key")
    assert "A new key for shop?" in asked.content.decode()
    assert key_in(asked) is None
    reply = staff.post(f"/subscribers/{shop.pk}/key", {"sure": "yes"})

    shop.refresh_from_db()
    assert shop.secrets["signing"] == [key_in(reply)[0], "whsec_x"]
    again = staff.get(f"/subscribers/{shop.pk}/key", follow=True)
    assert key_in(again) is None


def test_a_replay_first_shows_how_many_events_it_has(staff):
    shop = subscriber("shop")
    fanned_out(1, 2, 3)
    take()
    since = (timezone.now() - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")
    address = f"/subscribers/{shop.pk}/replay/"

    page = staff.get(address, {"since": since, "until": ""})

    assert "3 events in its topics" in words(page)
    [until] = re.findall(r'name="until" value="([^"]+)"', page.content.decode())[-1:]
    assert "3 events will be delivered" in words(
        staff.post(address, {"since": since, "until": until}, follow=True)
    )
    fanned_out()
    shop.refresh_from_db()
    assert shop.state.added == 6
    for bad, says in (("yesterday", "Enter a valid date"), ("2999-01-01T00:00", "in the past")):
        assert says in words(staff.get(address, {"since": bad}))
        assert says in words(staff.post(address, {"since": bad}))
    assert "0 events in its topics" in words(
        staff.get(address, {"since": "2020-01-01T00:00", "until": "2020-01-02T00:00"})
    )


def test_a_replay_over_the_limit_is_refused(staff, monkeypatch):
    shop = subscriber("shop")
    fanned_out(1, 2, 3)
    monkeypatch.setattr("trackers.events.redelivery.MOST_REPLAYED", 2)

    page = words(staff.post(f"/subscribers/{shop.pk}/replay/", {"since": "2020-01-01T00:00"}))

    assert "Choose a shorter one" in page
    assert Subscriber.objects.get().state.added == 3


def test_view_permission_can_neither_add_nor_change(client):
    shop = subscriber("shop", secrets={"signing": ["whsec_x"]})
    reader = User.objects.create_user("reader", password="of no account", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_subscriber"))
    client.force_login(reader)

    assert "Add a subscriber" not in words(client.get("/subscribers/"))
    assert client.post(ADD, GIVEN).status_code == 403
    for act in ("edit/", "key", "replay/"):
        assert client.post(f"/subscribers/{shop.pk}/{act}", GIVEN).status_code == 403
    shop.refresh_from_db()
    assert (Subscriber.objects.count(), shop.secrets["signing"]) == (1, ["whsec_x"])


def words_of(reply):
    """Of a form that is shown again."""
    assert reply.status_code == 400
    reply.status_code = 200
    return words(reply)


def wait_for(state):
    deadline = timezone.now() + timedelta(seconds=30)
    while not state():
        assert timezone.now() < deadline
