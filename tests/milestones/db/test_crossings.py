"""A tweet that reaches a milestone is told once, and again only after it fell well below it."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from django_q.models import Schedule

from tests.factories import figures
from tests.stored_events import events_of, ms, subscribe
from trackers import tasks
from trackers.milestones.models import Crossing, Milestone
from trackers.schedule import tweet_changes
from trackers.tweets.models import Tweet
from trackers.tweets.record import Measured, record

AT = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
HOLE = timedelta(minutes=2)


@pytest.fixture(autouse=True)
def listened(db):
    subscribe("milestones")
    Milestone.objects.all().delete()
    Milestone.objects.bulk_create(
        Milestone(metric=metric, at=at) for metric in ("likes", "views") for at in (100, 1000)
    )


def measure(*counts, id=1, **more):
    """A measurement a minute; the milestones that were told so far, as (metric, at, figure)."""
    tweet, _ = Tweet.objects.get_or_create(id=id, defaults={"tracked_at": AT})
    at = tweet.measured_until or AT
    for likes in counts:
        at += timedelta(minutes=1)
        record([Measured(id, at, figures(likes, **more), HOLE)])
    return heard()


def heard():
    assert {one.type for one in events_of("milestones")} <= {"create"}
    return [
        (one.data["metric"], one.data["at"], one.data["value"]) for one in events_of("milestones")
    ]


@pytest.mark.parametrize(
    ("likes", "reached"),
    [
        pytest.param((99, 100), [100], id="reached exactly"),
        pytest.param((98, 99), [], id="not quite"),
        pytest.param((100, 101), [], id="had it when it was first measured"),
        pytest.param((None, 101), [], id="nobody knows what it had"),
        pytest.param((99, 101, None, 99, 101), [101], id="unknown in between"),
        pytest.param((99, 101, 99, 100, 91, 102), [101], id="sways around it"),
        pytest.param((99, 101, 90, 101), [101], id="falls to 90% of it"),
        pytest.param((99, 101, 89, 102), [101, 102], id="falls further and returns"),
        pytest.param((99, 101, None, 89, 102), [101, 102], id="falls while it is unknown"),
        pytest.param((5, 2000), [2000, 2000], id="several at once"),
        pytest.param((2000, 5, 2000), [2000, 2000], id="from above and back"),
    ],
)
def test_a_milestone_is_published_when_a_metric_reaches_it_from_below(likes, reached):
    assert [figure for *_, figure in measure(*likes)] == reached


def test_each_metric_has_its_milestones_each_published_a_millisecond_apart():
    measure(5, views=50)
    assert measure(500, views=2_000) == [
        ("likes", 100, 500), ("views", 100, 2_000), ("views", 1000, 2_000)
    ]  # fmt: skip

    at = Tweet.objects.get().measured_until
    assert [one.t - ms(at) for one in events_of("milestones")] == [1, 2, 3]


def test_the_change_event_comes_before_its_milestones():
    subscribe("tweets", "milestones")
    measure(99, 100)

    [update], [milestone] = events_of("tweets"), events_of("milestones")
    assert update.figures == [0, 0, 99, 0, 0, 0, 0, 0, 100, 0, 0, 0]
    assert milestone.figures is None
    assert milestone.t == update.t + 1


def test_a_milestone_lost_without_subscribers_is_published_again_to_the_next():
    measure(99, 100)
    subscribe()
    measure(50)
    subscribe("milestones")

    assert [figure for *_, figure in measure(120)] == [100, 120]


def test_milestones_reached_without_subscribers_are_not_stored():
    subscribe()
    measure(99, 100)

    assert not Crossing.objects.exists()
    assert heard() == []


def test_stored_milestones_are_deleted_after_an_hour_without_subscribers():
    measure(99, 100)
    tasks.prune_crossings()
    assert Crossing.objects.count() == 1

    subscribe("tweets")
    tasks.prune_crossings()

    assert not Crossing.objects.exists()
    assert Schedule.objects.filter(func="trackers.tasks.prune_crossings").count() == 1


def test_milestones_of_an_untracked_tweet_are_deleted():
    measure(99, 100)
    measure(99, 100, id=2)

    tweet_changes.untrack_tweets([1])

    assert [*Crossing.objects.values_list("tweet_id", flat=True)] == [2]


@pytest.mark.parametrize("at", [0, -1, 2**63])
def test_a_milestone_is_a_count(at):
    with pytest.raises(ValidationError):
        Milestone(metric="likes", at=at).full_clean()
