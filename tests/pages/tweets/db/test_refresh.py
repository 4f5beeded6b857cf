"""What a tweet's page asks every three seconds, and what the answer may cost."""

import re
import time
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from tests.pages.conftest import born, measure, watched
from trackers.dashboards.tweets.curve import Curve, totals_series
from trackers.jobs.observed.models import Worker
from trackers.tweets.history import Run
from trackers.tweets.models import Tweet, TweetText
from trackers.updater.models import TweetBucket, TweetUpdate
from tweetwatch.database import cursor

READ = """
    SELECT coalesce(sum(seq_scan + coalesce(idx_scan, 0)), 0) FROM pg_stat_xact_user_tables
    WHERE relname ~ '^trackers_(sample|packedsamples)'
"""


def version_in(answer):
    [version] = set(re.findall(r'name="version" value="(\w+)"', answer.content.decode()))
    return version


def reads():
    """How often this transaction has looked for samples."""
    with cursor() as db:
        return db.execute(READ).fetchone()[0]


@pytest.fixture
def tweet():
    found = watched()
    for minute in range(3):
        measure(found, 60 * minute, likes=minute)
    return found


def test_a_refresh_without_news_does_not_read_the_samples(staff, tweet, django_assert_num_queries):
    version = version_in(staff.get(f"/tweets/{tweet.id}/"))
    before = reads()

    # Session, user, the tweet, its job, its claim.
    with django_assert_num_queries(5):
        answer = staff.get(f"/tweets/{tweet.id}/?part=now&range=all&version={version}")

    assert (answer.status_code, answer.content) == (204, b"")
    assert reads() == before


CHANGES = {
    "it was measured": lambda tweet: measure(tweet, 300, likes=9),
    "it was measured again, with the same figures": lambda tweet: measure(tweet, 180, likes=2),
    "it was paused": lambda tweet: Tweet.objects.update(paused=True),
    "it is being asked for": lambda tweet: TweetBucket.objects.update(lease=7),
    "its text changed": lambda tweet: TweetText.objects.update(text="Other words"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_new_samples_come_with_the_next_refresh(staff, tweet, change):
    version = version_in(staff.get(f"/tweets/{tweet.id}/"))

    change(tweet)
    answer = staff.get(f"/tweets/{tweet.id}/?part=now&version={version}")

    assert answer.status_code == 200
    assert version_in(answer) != version
    assert version_in(answer) == version_in(staff.get(f"/tweets/{tweet.id}/"))


def test_a_page_that_names_no_version_gets_everything(staff, tweet):
    answer = staff.get(f"/tweets/{tweet.id}/?part=now")

    assert answer.status_code == 200
    assert 'id="samples-body"' in answer.content.decode()


def test_gaps_in_a_curve_are_cheap_to_compute():
    runs = [Run(1, born(), born(), 1, 0, 0, place, 0, 0, 0) for place in range(15_000)]
    none, many = Curve(runs, frozenset()), Curve(runs, frozenset(range(3, 15_000, 5)))

    # Three times as many points are drawn; when each looked at each hole it was 180 times as long.
    assert seconds(many) < 40 * seconds(none)
    made = totals_series(Tweet(id=1), many, range="all")
    assert made["series"]["likes"].count(None) == 3000


def seconds(curve):
    """What drawing it takes of this process, at the best."""
    taken = []
    for _ in range(3):
        began = time.process_time()
        totals_series(Tweet(id=1), curve, range="all")
        taken.append(time.process_time() - began)
    return min(taken)


def test_a_refresh_shows_and_removes_the_warning_that_checks_stand_still(staff, tweet):
    """The tweet itself stays as it is."""
    TweetUpdate.objects.update(due_at=timezone.now() - timedelta(minutes=5))
    now = timezone.now()
    worker = Worker.objects.create(
        cluster=uuid4(), host="h", pid=1, started_at=now, seen_at=now + timedelta(hours=1)
    )
    ticks = [staff.get(f"/tweets/{tweet.id}/?part=now")]

    worker.delete()
    ticks.append(staff.get(f"/tweets/{tweet.id}/?part=now&version={version_in(ticks[-1])}"))
    again = staff.get(f"/tweets/{tweet.id}/?part=now&version={version_in(ticks[-1])}")
    worker.save()
    ticks.append(staff.get(f"/tweets/{tweet.id}/?part=now&version={version_in(ticks[-1])}"))

    told = ["It waits, because no worker is running." in one.content.decode() for one in ticks]
    assert (told, again.status_code) == ([False, True, False], 204)
