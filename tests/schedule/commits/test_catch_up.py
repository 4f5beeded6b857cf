from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils.timezone import now

from tests.factories import AppFactory, CredentialFactory, TweetUpdateFactory, id_born
from trackers.credentials import sentences
from trackers.credentials.models import Credential, Window
from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.jobs.observed.models import QueueCounters, Worker
from trackers.jobs.statistics import queue_summary
from trackers.money.models import Project
from trackers.schedule.capacity import Capacity, capacity
from trackers.schedule.catch_up import NO_WORKERS, compute_catch_up, read_catch_up
from trackers.schedule.census import count_bounded
from trackers.schedule.intervals import Plan, Tier, current

HELD_FOR = timedelta(minutes=5)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def expected(*, due=3000, windows=20.0, workers=None, demand=10.0, held_for=timedelta(0)):
    return compute_catch_up(
        due=due, capacity=Capacity(windows, workers), demand=demand, held_for=held_for
    )  # fmt: skip


def test_catch_up_uses_the_requests_that_the_plan_leaves():
    found = expected(due=3000, windows=20.0, demand=10.0)

    assert (found.state, found.length) == ("soon", timedelta(seconds=300))


def test_workers_slower_than_the_windows_limit_catch_up():
    assert expected(windows=100.0, workers=20.0).length == timedelta(seconds=300)


def test_catch_up_begins_at_the_end_of_a_hold():
    found = expected(held_for=HELD_FOR)

    assert found.length == timedelta(seconds=300) + HELD_FOR
    assert not found.after_outage


def test_in_an_outage_catch_up_begins_at_the_return_of_x():
    found = expected(held_for=None)

    assert (found.length, found.after_outage) == (timedelta(seconds=300), True)


@pytest.mark.parametrize(
    ("windows", "workers", "by"),
    [(10.0, None, "credentials"), (5.0, 30.0, "credentials"), (30.0, 9.0, "workers")],
)
def test_without_spare_requests_there_is_no_catch_up_time(windows, workers, by):
    found = expected(windows=windows, workers=workers)

    assert (found.state, found.limited_by, found.length) == ("never", by, None)


def test_without_any_limit_the_catch_up_time_is_unknown():
    assert expected(windows=None).state == "unknown"


# Below: on rows. Committed, since now() stands still within a transaction.
on_rows = pytest.mark.django_db(transaction=True)


def window(app, limit=900, **given):
    return Window.objects.create(
        app=app, endpoint="GET /2/tweets", limit=limit, remaining=limit,
        resets_at=now() + HOUR, seen_at=now(), learned_at=now(), **given,
    )  # fmt: skip


@on_rows
def test_the_plan_needs_each_tweet_once_per_interval_of_its_tier():
    plan = Plan((Tier(HOUR, MINUTE), Tier(DAY, HOUR)))
    for age, count in ((timedelta(minutes=5), 60), (timedelta(hours=5), 36), (10 * DAY, 500)):
        for low in range(count):
            TweetUpdateFactory(key=id_born(now() - age, low))
    TweetUpdateFactory(key=20)  # From before the ids carried a time: past the last tier.

    assert count_bounded(plan, now=now()).demand == pytest.approx(60 / 60 + 36 / 3600)


@on_rows
def test_tokens_of_one_app_share_a_window_and_users_have_their_own():
    app = AppFactory(name="shared")
    CredentialFactory(app=app)
    CredentialFactory(app=app)
    window(app, 900)
    user = CredentialFactory(app=app, kind="oauth2")
    window(app, 90, credential=user)

    assert capacity(100).windows == pytest.approx((900 + 90) * 100 / 900)


@on_rows
def test_disabled_credentials_and_depleted_projects_add_no_requests():
    for name in ("one", "disabled", "stopped"):
        window(CredentialFactory(name=name).app)
    Credential.objects.get(name="disabled").disable("X refused it", now=now())
    Project.objects.filter(name="stopped").update(depleted_until=now() + HOUR)

    assert capacity(100).windows == pytest.approx(100)


@on_rows
def test_a_limit_a_day_bounds_what_its_quarters_of_an_hour_allow():
    window(CredentialFactory(name="one").app)
    Window.objects.update(limit_a_day=960)

    assert capacity(100).windows == pytest.approx(10 * 100 / 900)


def minute(back, *, asked, late_place):
    late = [0] * (len(QueueCounters.LATENESS) + 1)
    late[late_place] = asked
    at = now().replace(second=0, microsecond=0) - back * MINUTE
    for pid in (1, 2):
        QueueCounters.objects.create(
            queue="tweet:update", minute=at, host="h", pid=pid, batches=1,
            asked=asked // 2, measured=asked // 2, late=[one // 2 for one in late],
        )  # fmt: skip


PUNCTUAL, LATE = 2, 10


@on_rows
def test_the_speed_of_workers_is_their_best_overdue_minute():
    minute(30, asked=1200, late_place=PUNCTUAL)
    minute(20, asked=60, late_place=LATE)
    assert capacity(100).workers is None

    minute(10, asked=6000, late_place=LATE)
    assert capacity(100).workers == pytest.approx(100)


def behind(count=1000, *, limit=900):
    """So many tweets of five hours that were due a minute ago, a worker, and a window."""
    born = now() - timedelta(hours=5)
    for low in range(count):
        TweetUpdateFactory(key=id_born(born, low), due_at=now() - MINUTE)
    # Last: one that was seen too long ago counts as dead.
    Worker.objects.create(
        cluster=uuid4(), host="h", pid=4, kind="worker", started_at=now(), seen_at=now()
    )
    return window(CredentialFactory().app, limit)


def catch_up_now():
    at, plan = current()
    return read_catch_up(plan, queue_summary(TWEET_UPDATE), now=at)


@on_rows
def test_the_catch_up_time_uses_the_statistics_of_the_queue():
    assert catch_up_now().state == "fresh"

    behind(1000, limit=900)
    # A request has a hundred tweets, however many are claimed together.
    Queue.objects.filter(pk=TWEET_UPDATE).update(batch_size=1000)

    assert catch_up_now().length.total_seconds() == pytest.approx(
        1000 / (100 - 1000 / 3600), rel=1e-3
    )


@on_rows
def test_a_pause_and_an_outage_change_the_catch_up_time():
    behind(10)
    queue = Queue.objects.filter(pk="tweet:update")

    queue.update(failures=3, held_until=now() + HELD_FOR, held_reason="503")
    assert catch_up_now().after_outage
    queue.update(failures=0)
    assert catch_up_now().length > timedelta(minutes=4)
    queue.update(paused=True)
    assert (catch_up_now().state, catch_up_now().why) == ("unknown", "The queue is paused.")


@on_rows
def test_without_credentials_the_catch_up_time_is_unknown():
    behind(10)
    Project.objects.update(depleted_until=now() + HOUR)

    assert (catch_up_now().state, catch_up_now().why) == ("unknown", sentences.nobody_may_ask())
    assert "Buy more from X" in catch_up_now().why


@on_rows
def test_without_workers_there_is_no_catch_up_time():
    behind(10)
    Worker.objects.all().delete()

    assert (catch_up_now().state, catch_up_now().why) == ("unknown", NO_WORKERS)
