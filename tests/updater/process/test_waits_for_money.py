"""A tweet that waits for money is known to, until it is looked up or moved; it is not late."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.updater.process.test_refresh import tracked, turn_clock, x  # noqa: F401
from trackers import tasks
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.jobs.statistics import count_bounded
from trackers.money.models import Project
from trackers.schedule import tweet_changes
from trackers.updater.models import TweetUpdate

# Committed: the time of the database stands still in a transaction.
pytestmark = pytest.mark.django_db(transaction=True)


def waiting():
    return {one.pk for one in TweetUpdate.objects.all() if one.waits_for_money}


def look_up():
    tasks.update_tweets(queue.get(TWEET_UPDATE, 100))


def test_only_tweets_without_money_wait_for_money(x):  # noqa: F811
    # What the day needs is reckoned already.
    Project.objects.update(posts_a_day=0, rationed_at=timezone.now())
    ids = tracked(x, 20)

    look_up()
    waited, late = waiting(), count_bounded(TWEET_UPDATE).oldest_due_seconds
    moved = ids[0]
    tweet_changes.check_now([moved])
    without_moved = waiting()
    Project.objects.update(posts_a_day=None)
    turn_clock(timedelta(days=2))
    look_up()

    assert waited == set(ids)
    assert late == 0
    assert without_moved == set(ids) - {moved}
    assert waiting() == set()
    assert not TweetUpdate.objects.exclude(for_money_until=None).exists()
