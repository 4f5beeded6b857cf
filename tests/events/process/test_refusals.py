"""A receiver refuses one tweet: only that one waits, for a person."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.events.delivering import attempts, books, delivering, publish, subscriber
from tests.events.receivers import Receiver
from tests.x import wait_until
from trackers.events.delivery.models import Attempt
from trackers.events.models import EventBatch, SubscriberState
from trackers.events.set_aside import refusal_findings
from trackers.events.subscribers import acts
from trackers.history import by_command
from trackers.outbox.findings import update_findings

pytestmark = pytest.mark.django_db(transaction=True)


class Picky(Receiver):
    """Refuses each batch that has one of these events."""

    def __init__(self, *refused, status="422 Unprocessable Content"):
        super().__init__(self.treat)
        self.refused, self.taken = set(refused), []
        self.status = status

    def treat(self, conn, _receiver):
        got = self.read(conn)
        numbers = [event["t"] for event in json.loads(got.body)]
        taken = not self.refused & {*numbers}
        if taken:
            self.taken += numbers
        status, body = ("204 No Content", "") if taken else (self.status, "I know no such tweet")
        conn.sendall(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())


def set_aside(one):
    return [
        list(batch.events) and Attempt.objects.filter(uid=batch.uid).count()
        for batch in one.batches_set_aside()
    ]


def alerts():
    now = timezone.now()
    update_findings(refusal_findings(), now=now)
    later = now + timedelta(minutes=2)
    return [news.what for news in update_findings(refusal_findings(), now=later)]


def test_refused_tweets_starve_no_others_and_are_set_aside_with_their_answer():
    receiver = Picky(1, 2, 3)
    shop = subscriber("one", receiver, max_events=1, concurrency=2)

    with delivering():
        publish(60)
        wait_until(lambda: shop.batches_set_aside().count() == 3)

    assert sorted(receiver.taken) == [*range(4, 61)]
    assert books(shop) == (60, 57, 0, 3)
    assert set_aside(shop) == [8, 8, 8]
    batch = shop.batches_set_aside().first()
    assert (batch.last_status, batch.refusal) == (422, "I know no such tweet")
    state = SubscriberState.objects.get(subscriber=shop)
    assert (state.health, state.failing_since) == (100, None)
    [alert] = alerts()
    assert "refused 3 batches" in alert
    assert "422" in alert

    receiver.refused.clear()
    acts.drop_batch(shop, by_command(), batch=batch.uid)
    acts.send_again(shop, by_command(), batch=shop.batches_set_aside().first().uid)
    with delivering():
        wait_until(lambda: books(shop)[1] == 58)

    assert books(shop) == (60, 58, 1, 1)


def test_a_batch_of_several_is_divided_and_only_the_guilty_event_set_aside():
    receiver = Picky(2)
    shop = subscriber("one", receiver, max_events=3)

    with delivering():
        publish(6)
        wait_until(lambda: EventBatch.objects.filter(refusals__gt=0).exists())
        # The others may have been taken before: only what is taken since then proves something.
        publish(1, first=7)
        wait_until(lambda: shop.batches_set_aside().count() == 1)

    assert sorted(receiver.taken) == [1, 3, 4, 5, 6, 7]
    assert books(shop) == (7, 6, 0, 1)


@pytest.mark.parametrize(
    "status", ["422 Unprocessable Content", "401 Unauthorized", "404 Not Found"]
)
def test_a_fault_of_the_receiver_itself_sets_nothing_aside(status):
    """A receiver that refuses everything; or one tweet, with a status that is not about it."""
    about_all = status.startswith("422")
    receiver = Picky(*(range(1, 9) if about_all else (1,)), status=status)
    shop = subscriber("one", receiver, max_events=1)

    with delivering():
        publish(8)
        wait_until(lambda: Attempt.objects.filter(number=10).exists())

    assert not shop.batches_set_aside().exists()
    assert not alerts()
    assert SubscriberState.objects.get(subscriber=shop).health < 100


def test_an_ordered_line_stands_until_a_person_sets_its_head_aside():
    receiver = Picky(2)
    shop = subscriber("one", receiver, max_events=3, ordered=True)

    with delivering():
        publish(5)
        wait_until(lambda: EventBatch.objects.filter(refusals=8).exists())
        assert receiver.taken == [1]
        assert not shop.batches_set_aside().exists()
        [alert] = alerts()
        assert "is ordered and stands still" in alert
        head = shop.batches_in_line().first()
        assert str(head.uid) in alert

        def is_put_aside():
            try:
                return acts.put_aside(shop, by_command(), batch=head.uid)
            except LookupError:
                # On its way just now.
                return False

        wait_until(is_put_aside)
        wait_until(lambda: len(receiver.taken) == 4)

    assert receiver.taken == [1, 3, 4, 5]
    assert books(shop) == (5, 4, 0, 1)


def test_a_receiver_that_says_when_it_takes_more_loses_no_health():
    receiver = Picky(1, status="429 Too Many Requests\r\nRetry-After: 1")
    shop = subscriber("one", receiver)

    with delivering():
        publish(1)
        wait_until(lambda: len(attempts(shop)) >= 2)

    assert {*attempts(shop)} == {"throttled"}
    state = SubscriberState.objects.get(subscriber=shop)
    assert (state.health, state.failing_since) == (100, None)
