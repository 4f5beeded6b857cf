"""Two clusters may run the minute's task at once, and tweets change meanwhile."""

import threading

import pytest
from django.db import connection, transaction

from tests.rollups.posted import DAY, MINUTE, NOW, id_of, tracked, update
from tests.rollups.recounted import counted, kept
from trackers.rollups.update import update_rollups
from trackers.schedule.tweet_changes import untrack_tweets
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.tagging import tag_tweets, untag_tweets
from trackers.tweets.uncounted import Uncounted
from tweetwatch.pieces import Deadline, take_work_lock

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_second_run_leaves_it_to_the_first():
    tracked(id_of(DAY))
    begun, over = threading.Event(), threading.Event()

    def another():
        with transaction.atomic():
            assert take_work_lock("rollups")
            begun.set()
            over.wait(60)
        connection.close()

    rival = threading.Thread(target=another)
    rival.start()
    assert begun.wait(60)
    worked = update()
    over.set()
    rival.join(60)

    assert worked.is_elsewhere
    assert Uncounted.objects.exists()


def test_changes_during_a_count_are_counted_by_the_next_one():
    ids = tracked(*(id_of(n % 5 * DAY, low=n) for n in range(60)))
    tag = Tag.objects.create(name="space").pk
    over = threading.Event()
    failed = []

    def count():
        try:
            minute = 0
            while not over.is_set():
                minute += 1
                update_rollups(now=NOW + minute * MINUTE, deadline=Deadline.after(60))
        except BaseException as fault:
            failed.append(fault)
            raise
        finally:
            connection.close()

    counters = [threading.Thread(target=count) for _ in range(2)]
    for counter in counters:
        counter.start()
    for n in range(300):
        some = ids[n % 53 : n % 53 + 7]
        (tag_tweets if n % 3 else untag_tweets)(tag, some)
        if n % 20 == 0:
            untrack_tweets([ids[n // 20]])
    over.set()
    for counter in counters:
        counter.join(60)
    update(now=NOW + 365 * DAY)

    assert not failed
    assert kept() == counted()
