"""What happens to tweets is kept for thirty days, written by what causes it."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django_q.models import Schedule

from tests.factories import TweetFactory, figures, id_born, post
from tests.milestones.db.test_crossings import measure
from tests.stored_events import subscribe
from tests.updater.db.test_save import MINUTE, claimed, measured, save
from trackers import tasks
from trackers.happenings.models import Happening, HappeningKind
from trackers.milestones.models import Milestone
from trackers.schedule.tweet_changes import untrack_tweets
from trackers.tweets.models import Tweet
from trackers.tweets.record import Measured, record
from trackers.tweets.versions import SeenVersion, learn
from trackers.updater.verdicts import Verdict

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def happened():
    rows = Happening.objects.order_by("pk")
    return [(row.what, row.tweet_id, row.figures) for row in rows]


@pytest.fixture
def now():
    return datetime.now(UTC).replace(microsecond=0)


@pytest.mark.parametrize(
    ("likes", "falls"),
    [
        pytest.param((100, 90), [(100, 90)], id="by a tenth"),
        pytest.param((100, 91), [], id="by less"),
        pytest.param((12, 3), [], id="by fewer than ten"),
        pytest.param((1000, 990), [], id="by ten of a thousand"),
        pytest.param((10, 0), [(10, 0)], id="to nothing"),
        pytest.param((100, None, 10), [], id="unknown in between"),
        pytest.param((100, 50, 100, 50), [(100, 50), (100, 50)], id="twice"),
        pytest.param((90,), [], id="first measured"),
    ],
)
def test_a_metric_that_falls_by_a_tenth_and_by_ten_is_a_happening(likes, falls):
    measure(*likes)

    assert happened() == [
        ("fell", 1, {"metric": "likes", "before": before, "after": after})
        for before, after in falls
    ]


def test_each_metric_that_fell_is_a_happening_at_the_measurement():
    measure(100, views=5000)
    measure(10, views=50)

    assert {row.figures["metric"] for row in Happening.objects.all()} == {"likes", "views"}
    assert {row.at for row in Happening.objects.all()} == {Tweet.objects.get().measured_until}


def test_a_measurement_that_comes_late_is_no_fall():
    measure(5, 500)
    tweet = Tweet.objects.get()
    early = tweet.measured_until - timedelta(seconds=30)
    record([Measured(1, early, figures(100), timedelta(minutes=2))])

    assert happened() == []


def test_a_milestone_that_is_published_is_a_happening():
    subscribe("milestones")
    Milestone.objects.all().delete()
    Milestone.objects.create(metric="likes", at=100)
    measure(99, 120)

    assert happened() == [("milestone", 1, {"metric": "likes", "at": 100, "value": 120})]


def test_a_tweet_that_is_gone_is_a_happening_once_that_is_confirmed(now):
    batch = claimed(1, 2)
    save(batch, [measured(1, 5), measured(2, 6)], at=now)
    missing = Verdict(1, MINUTE, missing="not_found")
    gone = Verdict(1, MINUTE, missing="not_found", gone=True)
    save(claimed(1), [missing], at=now + MINUTE)
    assert happened() == []

    save(claimed(1, 2), [gone, measured(2, 6)], at=now + 2 * MINUTE)
    save(claimed(1), [gone], at=now + 3 * MINUTE)

    views = Tweet.objects.get(pk=1).views
    assert happened() == [("gone", 1, {"reason": "not_found", "views": views})]
    assert Happening.objects.get().at == now + 2 * MINUTE


def test_an_edit_after_a_tweet_was_tracked_is_a_happening_once(now):
    first = id_born(now - HOUR)
    second, third = id_born(now - HOUR / 2), id_born(now)
    TweetFactory(id=first, tracked_at=now - 50 * MINUTE)
    for versions in ((first, second), (first, second), (first, second, third)):
        learn([SeenVersion(post(versions[-1])._replace(edit_history=versions), now)])

    assert happened() == [("edited", first, {"versions": 2}), ("edited", first, {"versions": 3})]


def test_an_edit_from_before_a_tweet_was_tracked_is_none(now):
    first, second = id_born(now - HOUR), id_born(now - HOUR / 2)
    TweetFactory(id=first, tracked_at=now)
    learn([SeenVersion(post(second)._replace(edit_history=(first, second)), now)])

    assert happened() == []


def test_happenings_of_an_untracked_tweet_are_deleted():
    measure(100, 10)
    measure(100, 10, id=2)
    untrack_tweets([1])

    assert [row.tweet_id for row in Happening.objects.all()] == [2]


def test_happenings_are_deleted_after_thirty_days(now):
    for days in (40, 31, 29, 0):
        Happening.objects.create(
            what=HappeningKind.GONE, tweet_id=1, at=now - timedelta(days=days), figures={}
        )
    tasks.prune_happenings()

    assert [(now - row.at).days for row in Happening.objects.order_by("at")] == [29, 0]
    assert Schedule.objects.filter(func="trackers.tasks.prune_happenings").count() == 1


def test_happenings_of_a_kind_are_read_by_the_index(now):
    """Whatever the statistics of an empty table say."""
    asked = Happening.objects.of_kind_since(HappeningKind.FELL, now - HOUR)[:1001]
    with connection.cursor() as db:
        db.execute("SET LOCAL enable_seqscan = off")
        db.execute(
            f"EXPLAIN {asked.query}".replace("fell", "'fell'").replace(
                str(now - HOUR), f"'{now - HOUR}'"
            )
        )
        plan = "\n".join(line for (line,) in db.fetchall())

    assert "happening_by_kind" in plan
    assert "Sort" not in plan
