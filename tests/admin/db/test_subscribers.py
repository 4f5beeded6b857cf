"""Subscribers in the admin: where their page is, and the log of attempts."""

from django.contrib.auth.models import User

from tests.events.conftest import deliver, fanned_out, subscriber, take
from trackers.events.models import Subscriber
from trackers.events.subscribers import acts
from trackers.history import by_command

LIST = "/admin/trackers/subscriber/"
ATTEMPTS = "/admin/trackers/loggedattempt/"


def html(reply):
    assert reply.status_code == 200
    return reply.content.decode()


def test_the_admin_links_to_the_page_and_shows_the_history(staff):
    shop = subscriber("shop")
    acts.pause(shop, by_command())

    for address, page in (
        (LIST, "/subscribers/"),
        (f"{LIST}add/", "/subscribers/add/"),
        (f"{LIST}{shop.pk}/change/", f"/subscribers/{shop.pk}/"),
        (f"{LIST}{shop.pk}/delete/", f"/subscribers/{shop.pk}/"),
    ):
        assert staff.get(address)["Location"] == page
        assert staff.post(address, {"post": "yes"})["Location"] == page
    assert "Paused" in html(staff.get(f"{LIST}{shop.pk}/history/"))
    assert Subscriber.objects.filter(removed_at=None).exists()


def test_attempts_are_read_only(staff):
    subscriber("shop", max_events=1)
    fanned_out(1, 2)
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


def test_the_log_opens_without_the_field_key(staff, settings):
    """Whoever logs in with other keys: sessions are under them as well."""
    subscriber("shop")
    fanned_out(1)
    deliver(take())
    settings.FIELD_KEYS = ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
    staff.force_login(User.objects.get())

    assert "shop" in html(staff.get(ATTEMPTS))
