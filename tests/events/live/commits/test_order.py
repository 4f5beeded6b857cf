"""The live feed misses nothing and tells nothing twice, in whatever order transactions commit."""

import random

import psycopg
import pytest

from tests.databases import OURS, url_of
from tests.events.live.conftest import Reader
from trackers.outbox.models import Event, Topic
from trackers.outbox.publish import PUBLISH_EVENTS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _topic(db):
    Topic.objects.create(name="news", publisher="somebody")


class Publisher:
    """A connection of its own, whose transaction is open until it commits."""

    def __init__(self):
        self.db = psycopg.connect(url_of(OURS))

    def tell(self, *numbers):
        given = {"topics": "news", "types": "create", "ts": None, "tweets": None, "data": None}
        rows = {name: [one] * len(numbers) for name, one in given.items()}
        self.db.execute(
            PUBLISH_EVENTS, {**rows, "urls": [f"https://here.example/{n}" for n in numbers]}
        )

    def commit(self):
        self.db.commit()
        self.db.close()


def test_an_event_committed_late_is_delivered_late_and_not_skipped():
    reader = Reader("news")
    slow, quick = Publisher(), Publisher()

    slow.tell(1, 2)
    quick.tell(3)
    quick.commit()
    assert reader.read() == [3]
    stood = reader.at
    slow.commit()

    assert reader.read() == [3, 1, 2]
    assert (
        dict(Event.objects.values_list("url", "id"))["https://here.example/1"]
        < (dict(Event.objects.values_list("url", "id"))["https://here.example/3"])
    )
    # Nor by one who comes back meanwhile.
    back = Reader("news", after=stood)
    assert (back.read(), back.gaps) == ([1, 2], [])


def test_twenty_transactions_in_any_order_reach_all_readers_once_in_one_order():
    dice = random.Random(15)
    readers = [Reader("news") for _ in range(2)]
    open_ones, collected = [], 0

    while collected < 20 or open_ones:
        if collected < 20 and (not open_ones or dice.random() < 0.5):
            open_ones.append(Publisher())
            open_ones[-1].tell(collected)
            collected += 1
        else:
            open_ones.pop(dice.randrange(len(open_ones))).commit()
        # One reads all the time, the other one at the end.
        readers[0].read()

    assert sorted(readers[0].heard) == list(range(20))
    assert readers[0].heard != sorted(readers[0].heard)
    assert readers[1].read() == readers[0].heard
