"""Two clusters may run the minute's task at once: one of them leaves it to the other."""

import threading
from datetime import UTC, datetime

import pytest
from django.db import connection, transaction

from trackers.scores.update import update_scores
from trackers.tweets.checkpoints.models import CrossedAges
from tweetwatch.pieces import Deadline, take_work_lock


@pytest.mark.django_db(transaction=True)
def test_a_second_run_takes_nothing():
    CrossedAges.objects.create(ids=[1], ages=[1])
    begun, over = threading.Event(), threading.Event()

    def another():
        with transaction.atomic():
            assert take_work_lock("scores")
            begun.set()
            over.wait(60)
        connection.close()

    rival = threading.Thread(target=another)
    rival.start()
    assert begun.wait(60)
    worked = update_scores(now=datetime.now(UTC), deadline=Deadline.after(60))
    over.set()
    rival.join(60)

    assert worked.is_elsewhere
    assert CrossedAges.objects.count() == 1
