"""How long tweets have waited counts from when they were first due, whoever gave them back."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.factories import TweetFactory
from tests.jobs.conftest import NAME
from tests.jobs.plans import nodes
from tests.queues import turn_clock
from trackers import tasks
from trackers.dashboards.figures import summary_figures
from trackers.jobs import queue
from trackers.jobs.models import Queue
from trackers.jobs.observed.models import QueueCounters
from trackers.jobs.statistics import COUNT_BOUNDED, MAX_COUNTED_KEYS, count_bounded, queue_summary
from trackers.jobs.tables import on
from trackers.schedule.catch_up import read_catch_up
from trackers.schedule.intervals import current
from trackers.updater.models import TweetUpdate
from tweetwatch.database import cursor

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
TABLE, BUCKETS = "trackers_tweetupdate", "trackers_tweetbucket"


def turn(by):
    turn_clock(TweetUpdate, by)


def in_parts(batch):
    for part in (batch.keys[:1], batch.keys[1:]):
        queue.release_in_place(replace(batch, keys=part))


ENDS = {
    "put back": queue.release_in_place,
    "released": queue.release,
    "to wait a little": lambda batch: queue.release(batch, 5 * SECOND),
    "in parts": in_parts,
    "the lease ran out": lambda batch: turn(MINUTE + SECOND),
    "still claimed": lambda batch: None,
}


def seconds():
    return count_bounded(NAME).oldest_due_seconds


def arrive(*keys, urgent):
    queue.schedule_many(NAME, [(key, timedelta(0)) for key in keys], urgent=keys if urgent else ())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("urgent", [True, False])
@pytest.mark.parametrize("end", ENDS)
def test_releasing_a_batch_keeps_the_waiting_time_of_the_oldest(end, urgent):
    arrive(1, 2, 3, urgent=urgent)
    turn(5 * MINUTE)
    before = seconds()

    for _ in range(3):
        batch = queue.get(NAME, 3)
        assert batch.late[-2] == 3, "it is as late when it is claimed again"
        ENDS[end](batch)
        if end == "still claimed":
            break
        turn(5 * SECOND)

    counted = count_bounded(NAME)
    assert before >= 300
    assert counted.oldest_due_seconds >= before
    assert counted.oldest_urgent_seconds >= (before if urgent else 0)
    assert counted.due == (0 if end == "still claimed" else 3)


@pytest.mark.django_db(transaction=True)
def test_rescheduled_keys_are_not_overdue_until_due():
    queue.schedule(NAME, 1, timedelta(0))
    turn(5 * MINUTE)

    queue.release(queue.get(NAME), 2 * MINUTE, anew=True)
    waiting = count_bounded(NAME)
    turn(3 * MINUTE)
    late = count_bounded(NAME)

    assert (waiting.due, waiting.oldest_due_seconds) == (0, 0)
    assert (late.due, round(late.oldest_due_seconds)) == (1, 60)


@pytest.mark.django_db(transaction=True)
def test_saved_and_moved_keys_are_no_longer_overdue():
    for key in (1, 2, 3):
        queue.schedule(NAME, key, timedelta(0))
    turn(5 * MINUTE)
    queue.release_in_place(queue.get(NAME, 3))

    queue.finish(queue.get(NAME, 1), {})
    queue.schedule(NAME, 2, MINUTE)
    queue.remove_keys(NAME, [3])

    assert seconds() == 0


@pytest.mark.django_db(transaction=True)
def test_five_minutes_without_a_credential_show_as_five_minutes_overdue():
    """As in the field: urgent ones were given back as due just then, every fifteen seconds."""
    tweets = TweetFactory.create_batch(60)
    arrive(*(tweet.pk for tweet in tweets), urgent=True)

    for _ in range(10):
        turn(30 * SECOND)
        Queue.objects.update(held_until=None)
        tasks.update_tweets(queue.get(NAME, 60))

    summary = queue_summary(NAME)
    now, plan = current()
    assert summary.oldest_due_seconds >= 300
    assert summary.due == 60
    assert summary_figures(summary).oldest_due.mood == "bad"
    assert read_catch_up(plan, summary, now=now).state != "fresh"


@pytest.mark.django_db(transaction=True)
def test_the_first_checks_after_a_hold_are_late_by_its_length():
    arrive(1, urgent=True)
    queue.release_in_place(queue.get(NAME))
    turn(5 * MINUTE)
    queue.release_in_place(queue.get(NAME))

    late = queue.get(NAME).late

    assert late[QueueCounters.LATENESS.index(3600.0)] == 1


MILLION = 1_000_000
FILL = (
    f"INSERT INTO {TABLE} (key, due_at, stamp) SELECT n, now(), n / 100"
    f" FROM generate_series(1, {MILLION}) n",
    f"INSERT INTO {BUCKETS} (due_at, due_since, stamp, keys)"
    " SELECT now() + interval '5 s', now() - stamp * interval '1 s', stamp, array_agg(key)"
    f" FROM {TABLE} GROUP BY stamp",
)


@pytest.mark.django_db
@pytest.mark.parametrize("analyzed", [True, False])
def test_reading_the_oldest_of_a_million_released_keys_is_bounded(analyzed):
    with cursor() as db:
        for statement in FILL:
            db.execute(statement, prepare=False)
        if analyzed:
            db.execute(f"ANALYZE {TABLE}, {BUCKETS}", prepare=False)
        params = {"queue": NAME, "table": TABLE, "most": MAX_COUNTED_KEYS}
        for mode in ("force_custom_plan", "force_generic_plan"):
            db.execute(f"SET LOCAL plan_cache_mode = {mode}")
            explained = on(NAME, f"EXPLAIN (ANALYZE, FORMAT JSON) {COUNT_BOUNDED}")
            [found] = db.execute(explained, params, prepare=True).fetchone()
            walked = [
                node
                for node in nodes(found[0]["Plan"])
                if node.get("Relation Name") in (TABLE, BUCKETS)
            ]
            assert (
                max(node["Actual Rows"] * node["Actual Loops"] for node in walked)
                <= MAX_COUNTED_KEYS
            )
            assert max(node.get("Rows Removed by Filter", 0) for node in walked) <= MAX_COUNTED_KEYS
            assert "tweetbucket_due_since" in {node.get("Index Name") for node in walked}

    told = count_bounded(NAME)
    assert (told.due, round(told.oldest_due_seconds)) == (MAX_COUNTED_KEYS, 10_000)
