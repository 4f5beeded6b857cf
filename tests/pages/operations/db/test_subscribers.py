"""The pages of subscribers: how each stands, what waits for it, and what came of each attempt."""

import re
from datetime import timedelta

from django.contrib.auth.models import Permission, User
from django.db.models import F
from django.utils import timezone

from tests.events.conftest import books, deliver, fanned_out, subscriber, take
from tests.pages.conftest import flat
from trackers.events.delivery.models import Attempt
from trackers.events.models import EventBatch, Subscriber, TopicMinute
from trackers.events.subscribers import acts
from trackers.history import by_command
from trackers.outbox.models import Staged

LONG = {"timeout_ms": 3_600_000}


def words(reply):
    assert reply.status_code == 200
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", reply.content.decode()))


def act(staff, one, act, **given):
    return words(staff.post(f"/subscribers/{one.pk}/{act}", given, follow=True))


def test_an_empty_list_explains_subscribers_and_how_to_add_one(staff):
    page = words(staff.get("/subscribers/"))

    assert "No subscribers yet" in page
    assert "manage.py subscriber add" in page
    assert "nobody delivers" not in page


def test_subscribers_are_shown_with_state_and_counters_and_without_secrets(staff):
    secret = {"secrets": {"uuid": "a-secret", "signing": ["whsec_x"]}}
    hidden = {"callback": "https://there.example/a-secret-path", **secret}
    shop = subscriber("fine", **hidden)
    subscriber("paused", **LONG)
    subscriber("failing")
    fanned_out(1, 2)
    batches = {batch.subscriber_id: batch for batch in take()}
    deliver([batches.pop(shop.pk)])
    deliver(batches.values(), delivered=False, status=410)
    acts.pause(Subscriber.objects.get(name="paused"), by_command())

    page = words(staff.get("/subscribers/"))

    assert re.search(r"fine active news · there\.example .*?2 0 a minute 0 0 100", page)
    assert re.search(r"failing disabled .*? It answered 410 Gone: it wants no more\.", page)
    assert re.search(r"paused paused .*? Resume it to send", page)
    for address in ("/subscribers/", f"/subscribers/{shop.pk}/"):
        html = staff.get(address).content.decode()
        assert not re.search("a-secret|whsec", html)


def test_topics_show_their_rate_and_a_curve_of_the_last_hour(staff):
    shop = subscriber()
    fanned_out(1, 2, 3)
    deliver(take())
    TopicMinute.objects.update(minute=F("minute") - timedelta(minutes=2), events=12)
    page = flat(staff.get("/subscribers/"))

    [topic] = re.findall(r'<tr data-topic="news">.*?</tr>', page)
    assert "2.4 a minute" in topic
    assert "12 published in the last hour, at most 12 in a minute" in topic
    assert "3 delivered in the last hour" in page.replace(topic, "")
    assert "3 delivered in the last hour" in staff.get(f"/subscribers/{shop.pk}/").content.decode()
    assert "nothing delivered" not in page


def test_a_missing_delivery_process_is_reported_while_events_wait(staff):
    shop = subscriber(**LONG)
    fanned_out(1)
    EventBatch.objects.update(first_at=F("first_at") - timedelta(hours=1))
    assert "Start manage.py deliver" in words(staff.get("/subscribers/"))

    acts.pause(shop, by_command())
    assert "Start" not in words(staff.get("/subscribers/?part=list"))

    now = timezone.now()
    Staged.objects.bulk_create([Staged(received_at=now, events=[1]) for _ in range(101)])
    assert "Start manage.py deliver" in words(staff.get("/subscribers/?part=list"))


def test_the_page_of_a_subscriber_shows_waiting_events_and_answers(staff):
    shop = subscriber(max_events=2)
    fanned_out(1, 2, 3)
    first, second = take()
    deliver([first], status=204)
    deliver([second], delivered=False, status=500, error="It answered 500.", answer="<b>oops</b>")

    page = words(staff.get(f"/subscribers/{shop.pk}/"))

    assert re.search(r"Waiting batches .*? waits 1 .*? 1 It answered 500\.", page)
    assert "delivered" in page
    assert "&lt;b&gt;oops" in staff.get(f"/subscribers/{shop.pk}/").content.decode()
    failed = words(staff.get(f"/subscribers/{shop.pk}/?part=detail&outcome=failed"))
    assert "It answered 500." in failed
    assert "204" not in failed
    assert "None with this outcome" in words(staff.get(f"/subscribers/{shop.pk}/?outcome=lost"))
    assert staff.get(f"/subscribers/{shop.pk}/?outcome=nonsense").status_code == 404
    assert staff.get("/subscribers/999/").status_code == 404


def test_attempts_are_filtered_by_time(staff):
    shop = subscriber(max_events=1)
    fanned_out(1, 2)
    first, second = take()
    deliver([first], status=204)
    deliver([second], delivered=False, status=500, error="It answered 500.")
    Attempt.objects.filter(outcome="failed").update(at="2026-11-20T12:00:30Z")

    def attempts(query):
        page = words(staff.get(f"/subscribers/{shop.pk}/?part=detail&{query}"))
        return page[page.index("Attempts ·") :]

    before = attempts("since=2026-11-20T12:00&until=2026-11-20T12:01")
    assert ("It answered 500." in before, "204" in before) == (True, False)
    after = attempts("since=2026-11-20T12:01")
    assert ("It answered 500." in after, "204" in after) == (False, True)
    assert "None in this period" in attempts("until=2026-11-20T12:00")
    assert "None in this period" in attempts("since=2026-11-20T12:01&outcome=failed")
    # What is wrong is said, and filters nothing. The page keeps the period.
    wrong = attempts("since=2026-11-20T12:01&until=2026-11-20T12:00")
    assert "This must be before “Until”." in wrong
    assert "It answered 500." in wrong
    assert "204" in wrong
    kept = staff.get(f"/subscribers/{shop.pk}/?since=2026-11-20T12:01").content.decode()
    assert "?part=detail&amp;since=2026-11-20T12%3A01" in kept


def test_a_batch_is_set_aside_sent_again_and_dropped_by_its_buttons(staff):
    shop = subscriber()
    fanned_out(1, 2)
    [batch] = take()
    error, answer = "It answered 422 Unprocessable Content.", "No such <b>tweet</b>"
    deliver([batch], delivered=False, status=422, error=error, answer=answer)
    assert "Set aside" in words(staff.get(f"/subscribers/{shop.pk}/"))

    page = act(staff, shop, "set_aside", batch=batch.uid)

    assert "refused for what they contain" in page
    assert (
        "422 Unprocessable Content. Body No such &lt;b&gt;tweet&lt;/b&gt; Send again Drop" in page
    )
    assert "Nothing is waiting." in page
    assert "is being sent again" in act(staff, shop, "send_again", batch=batch.uid)
    assert "No batch" in act(staff, shop, "send_again", batch=batch.uid)
    act(staff, shop, "set_aside", batch=batch.uid)
    assert books() == (2, 0, 0, 2)
    assert "will never get its events" in act(staff, shop, "drop_batch", batch=batch.uid)
    assert "2 events dropped" in act(staff, shop, "drop_batch", batch=batch.uid, sure="yes")
    assert books() == (2, 0, 2, 0)


def test_a_person_pauses_resumes_tests_redelivers_drops_and_removes(staff):
    shop = subscriber()
    fanned_out(1, 2)
    [batch] = take()
    deliver([batch])

    assert "Paused" in act(staff, shop, "pause")
    assert take() == []
    assert "Resumed" in act(staff, shop, "resume")
    assert "Sent a test" in act(staff, shop, "test")
    assert "2 events of that batch" in act(staff, shop, "redeliver", batch=batch.uid)
    assert "due test" in words(staff.get(f"/subscribers/{shop.pk}/"))
    deliver(take())
    page = words(staff.get(f"/subscribers/{shop.pk}/"))
    assert "delivered redelivery" in page
    assert "delivered test" in page
    assert books() == (2, 2, 0, 0)
    fanned_out(3)
    assert "Drop the 1 event waiting" in act(staff, shop, "drop")
    assert books() == (3, 2, 0, 1), "it only asked"
    assert "1 event dropped" in act(staff, shop, "drop", sure="yes")
    assert books() == (3, 2, 1, 0)
    Attempt.objects.all().delete()
    assert "no attempt to deliver" in act(staff, shop, "redeliver", batch=batch.uid)
    assert "Removed, with 0 waiting events" in act(staff, shop, "remove", sure="yes")
    assert not Subscriber.objects.filter(removed_at=None).exists()


def test_view_permission_allows_no_acts(client):
    shop = subscriber()
    reader = User.objects.create_user("reader", password="of no account", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_subscriber"))
    client.force_login(reader)

    page = words(client.get(f"/subscribers/{shop.pk}/"))

    assert "Send a test" not in page
    for what in ("pause", "test", "drop", "remove"):
        assert client.post(f"/subscribers/{shop.pk}/{what}").status_code == 403
    assert Subscriber.objects.get().paused_at is None
    assert client.get(f"/subscribers/{shop.pk}/pause").status_code == 405
