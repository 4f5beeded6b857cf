"""Sources that show the same posts, polled at the same time as these are looked up."""

import threading
from datetime import timedelta

import pytest
from django.db import connection

from tests.ingest.polls.steps import (
    accounts,
    add,
    answers,
    billed,
    measurements,
    release,
    visible,
)
from trackers import tasks
from trackers.ingest.sources.models import Source, SourcePoll, SourceTweet
from trackers.jobs import queue
from trackers.jobs.tables import bucket_table
from trackers.money.models import Spending
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetUpdate
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 12
WORKERS = 4


def work(faults):
    """What a worker does, with all that is scheduled due at once."""
    try:
        for _ in range(ROUNDS):
            for name, act in (
                ("source:poll", tasks.poll_source),
                ("tweet:update", tasks.update_tweets),
            ):
                with cursor() as db:
                    # Those that a poll holds are left alone: this must wait for nobody either.
                    db.execute(
                        "UPDATE trackers_source SET poll_at = NULL WHERE id = ANY(ARRAY("
                        "SELECT id FROM trackers_source ORDER BY id FOR UPDATE SKIP LOCKED))"
                    )
                    buckets = bucket_table(name)
                    db.execute(
                        f"UPDATE {buckets} SET due_at = now() WHERE id = ANY(ARRAY("
                        f"SELECT id FROM {buckets} WHERE lease IS NULL"
                        " ORDER BY id FOR UPDATE SKIP LOCKED))"
                    )
                if batch := queue.get(name, 100 if name == "tweet:update" else 1):
                    act(batch)
    except BaseException as fault:
        faults.append(fault)
        raise
    finally:
        connection.close()


def deadlocks():
    """In this test's own database; what ended in one would have been done again unnoticed."""
    with cursor() as db:
        found = db.execute(
            "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        ).fetchone()
    return found[0]


def test_concurrent_polls_neither_deadlock_nor_duplicate(x):
    people = accounts(x, 3)
    ids = [id for id, _ in people]
    x.put("lists/9", {"members": ids})
    near = {"backfill": timedelta(minutes=1)}
    for _, name in people:
        add("account", name, **near)
    add("search", "#together", **near)
    add("list", "9", **near)
    add("mentions", people[0][1], **near)
    flow = {"authors": ids, "tags": ["together"], "tagged": 1, "mentions": 0.5, "retweets": 0}
    release(x, count=200, **flow)
    x.tell("POST", "posts", {"rate": 60, "count": 400, **flow})

    faults = []
    threads = [threading.Thread(target=work, args=[faults]) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()

    assert faults == []
    assert deadlocks() == 0
    assert not Source.objects.exclude(problem="").exists()
    assert SourcePoll.objects.count() == 6
    tracked = set(Tweet.objects.values_list("id", flat=True))
    assert len(tracked) > 200
    assert set(SourceTweet.objects.values_list("tweet_id", flat=True)) == tracked
    assert set(TweetUpdate.objects.values_list("key", flat=True)) >= tracked & visible(x)
    assert sum(Source.objects.values_list("yielded", flat=True)) == SourceTweet.objects.count()
    assert not Source.objects.exclude(leaked=0).exists()
    assert measurements() == answers(x)
    assert sum(Spending.objects.values_list("posts", flat=True)) >= billed(x)
