"""What is left of a day's money in the evening goes to some of those that wait for the next day."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories import AppFactory, CredentialFactory, ProjectFactory
from tests.flows.fake_time import FakeTime
from tests.large_tables import QUEUE, TWEETS, fill_what_was_drained, reading
from trackers.ingest.files.lines import FoundTweet
from trackers.ingest.track import track
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.money.balances import read_balances
from trackers.money.models import Project
from trackers.schedule import intervals
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import first_id_at
from trackers.updater.evening_release import MAX_CONSIDERED, release_spare
from trackers.updater.models import TweetUpdate
from trackers.updater.rationing import ration_projects
from trackers.updater.reserve import mark_waiting
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
MIDNIGHT = datetime(2027, 3, 11, tzinfo=UTC)


@pytest.fixture
def clock(fakex, settings):
    settings.X_API_BASE_URL = fakex.url
    CredentialFactory(name="one")
    yield FakeTime(fakex, start=MIDNIGHT - 90 * MINUTE)
    fakex.put("clock", {"ahead_s": 0})


@pytest.fixture
def waiting(clock):
    """Five old tweets that wait for tomorrow's money; the youngest first."""
    first = first_id_at(int((clock.now() - 10 * DAY).timestamp() * 1000))
    list(track((FoundTweet(first + n) for n in range(5)), came_from="a test"))
    with cursor() as db:
        db.execute("UPDATE trackers_tweetbucket SET due_at = now()")
    batch = queue.get(TWEET_UPDATE, 100)
    queue.release(batch, 2 * HOUR, anew=True)
    mark_waiting(batch.keys)
    return sorted(batch.keys, reverse=True)


def rationed(left):
    """Who was sent for."""
    Project.objects.update(posts_a_day=left)
    now, plan = intervals.current()
    ration_projects(plan, now=now)
    due = TweetUpdate.objects.filter(due_at__lte=now + MINUTE)
    return sorted(due.values_list("key", flat=True), reverse=True)


@pytest.mark.parametrize("left", [0, 2, 9])
def test_as_many_tweets_are_released_as_there_is_money_youngest_first(waiting, left):
    assert rationed(left) == waiting[:left]


def test_no_tweet_is_released_twice(waiting):
    assert rationed(2) == rationed(2) == waiting[:2]


def test_money_needed_today_is_not_handed_out(waiting):
    queue.schedule(TWEET_UPDATE, waiting[4], HOUR)

    assert rationed(2) == waiting[:1]


@pytest.mark.parametrize("until_midnight", [3 * HOUR, MINUTE])
def test_tweets_are_released_only_in_the_evening_and_not_at_the_last_moment(
    clock, waiting, until_midnight
):
    clock.pass_(MIDNIGHT - until_midnight - clock.now())

    assert rationed(5) == []


def test_a_tweet_paid_by_another_project_waits_for_its_money(waiting):
    other = ProjectFactory(name="other", posts_a_day=0)
    CredentialFactory(app=AppFactory(project=other))
    Tweet.objects.filter(id=waiting[0]).update(paid_by=other.pk)
    Project.objects.exclude(pk=other.pk).update(posts_a_day=2)
    now, plan = intervals.current()

    ration_projects(plan, now=now)

    due = TweetUpdate.objects.filter(due_at__lte=now + MINUTE).values_list("key", flat=True)
    assert set(due) == set(waiting[1:3])


def test_released_tweets_are_found_by_key_among_any_number():
    project = ProjectFactory(posts_a_day=100)
    CredentialFactory(app=AppFactory(project=project))
    fill_what_was_drained(2 * MAX_CONSIDERED, payers=[project.pk, None])
    now, _ = intervals.current()
    with cursor() as db:
        db.execute(
            "UPDATE trackers_tweetupdate SET due_at = %(at)s, for_money_until = %(at)s",
            {"at": now + 2 * DAY},
        )

    with reading() as read:
        assert release_spare(read_balances()[0], 7, now=now) == 7

    assert read.walked == {TWEETS: 0, QUEUE: 0}
    assert read.found[QUEUE] <= 1.1 * MAX_CONSIDERED
    assert read.found[TWEETS] <= 1.1 * MAX_CONSIDERED
