"""The counters of a subscriber are what its batches come to, whatever happens to these."""

import logging

from django.db.models import F
from django_q.models import Schedule

from tests.events.conftest import books, deliver, fanned_out, subscriber, take
from trackers import tasks
from trackers.events.audit import audit, mend
from trackers.events.drop import drop_some, drop_waiting, used_bytes
from trackers.events.models import EventBatch, SubscriberState


def waiting():
    return sum(EventBatch.objects.values_list("bytes", flat=True))


def test_the_counters_match_the_batches_through_every_state():
    shop = subscriber(max_events=2, timeout_ms=0)
    subscriber("two", max_events=3, newest_only=False)
    for act in (
        lambda: fanned_out(1, 2, 3),
        lambda: fanned_out(4, 5),
        lambda: deliver(take(2)),
        lambda: deliver(take(2), delivered=False),
        lambda: fanned_out(6),
        lambda: drop_some(10**9),
        lambda: fanned_out(7, 8),
        lambda: drop_waiting(shop),
        lambda: fanned_out(9),
    ):
        act()
        assert [each for each in audit() if not each.is_sound] == []
        assert used_bytes() == waiting()


def test_rows_deleted_by_hand_count_as_dropped(caplog):
    shop = subscriber(max_events=1)
    fanned_out(1, 2, 3)
    first = EventBatch.objects.order_by("place").first()
    EventBatch.objects.filter(pk=first.pk).delete()
    [unsound] = audit()
    assert (unsound.by_books.events, unsound.by_batches.events) == (3, 2)

    with caplog.at_level(logging.ERROR):
        tasks.audit_books()

    assert "by its books 3 events in 3 batches" in caplog.text
    assert books() == (3, 0, 1, 2)
    assert used_bytes() == waiting()
    # And what it has put there as added.
    EventBatch.objects.filter(subscriber=shop).update(events=[1, 2], bytes=F("bytes") + 5)
    assert len(mend()) == 1
    assert books() == (5, 0, 1, 4)
    assert mend() == []


def test_the_audit_is_scheduled_and_silent_when_all_is_well(caplog):
    subscriber()
    fanned_out(1)
    before = SubscriberState.objects.values().get()

    with caplog.at_level(logging.INFO):
        tasks.audit_books()

    assert caplog.text == ""
    assert SubscriberState.objects.values().get() == before
    assert Schedule.objects.get(func="trackers.tasks.audit_books").schedule_type == Schedule.HOURLY
