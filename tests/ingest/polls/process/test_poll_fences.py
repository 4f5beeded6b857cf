"""A page that comes back to another source than it was asked of: nothing but the money counts."""

import threading
import time
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from tests import queues
from tests.ingest.polls.steps import (
    accounts,
    add,
    billed,
    poll,
    release,
    spent,
    visible,
    yielded,
)
from trackers import tasks
from trackers.credentials.models import Window
from trackers.ingest.sources import life
from trackers.ingest.sources.models import Gap, Source, SourcePoll, SourceTweet
from trackers.jobs import queue
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db(transaction=True)

POLL = "source:poll"


@pytest.fixture
def source(x):
    """An account that was polled once, with 50 posts to come."""
    id, username = accounts(x, 1)[0]
    made = add("account", username, backfill=timedelta(0))
    poll(made)
    release(x, authors=[id], count=50)
    life.poll_now([made.pk])
    return made


class UnderWay:
    """A step in a thread of its own, which X keeps waiting."""

    def __init__(self, x):
        self.x = x
        x.put("latency", {"ms": 1_000})
        self.batch = queue.get(POLL)
        assert self.batch is not None
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        end = time.monotonic() + 5
        while not Window.objects.exclude(under_way=[]).exists():
            assert time.monotonic() < end, "X was not asked"
            time.sleep(0.01)

    def run(self):
        tasks.poll_source(self.batch)
        connection.close()

    def end(self):
        self.thread.join(10)
        assert not self.thread.is_alive()
        self.x.put("latency", {"ms": 0})


def pause(source):
    life.pause_sources([source.pk])


def remove(source):
    life.remove_sources([source.pk])


def change(source):
    source.exclude_replies = True
    life.change_source(source, ["exclude_replies"])


def resume(source):
    life.pause_sources([source.pk])
    life.resume_sources([source.pk])


def lose_the_claim(source):
    queues.set_due(SourcePoll, timezone.now() - timedelta(seconds=1))
    assert queue.get(POLL) is not None


@pytest.mark.parametrize("act", [pause, remove, change, resume, lose_the_claim])
def test_only_the_money_is_written_after_a_concurrent(x, source, act):
    step = UnderWay(x)
    act(source)
    before = list(Source.objects.values())
    jobs = list(SourcePoll.objects.values())

    step.end()

    assert list(Source.objects.values()) == before
    assert list(SourcePoll.objects.values()) == jobs
    assert not SourceTweet.objects.exists()
    assert not Tweet.objects.exists()
    assert not Gap.objects.exists()
    # X was paid, and what was read in vain may be read again.
    assert spent() == billed(x) >= 50


def test_a_discarded_page_is_read_again_by_the_next_poll(x, source):
    step = UnderWay(x)
    resume(source)
    step.end()

    source.refresh_from_db()
    poll(source)

    assert visible(x, author=source.account_id) <= yielded(source)
    assert source.leaked == 0


def test_asking_for_a_poll_does_not_disturb_the_one_under_way(x, source):
    step = UnderWay(x)
    life.poll_now([source.pk])

    step.end()

    assert visible(x, author=source.account_id) <= yielded(source)
