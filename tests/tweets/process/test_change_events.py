"""A measurement that changes a tweet tells of it, in the same statement, while somebody listens."""

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from tests.factories import TweetFactory, figures
from tests.stored_events import events_of, kinds, ms, subscribe
from tests.together import together
from trackers.milestones.models import Milestone
from trackers.outbox.models import Event, Staged
from trackers.tweets.models import Tweet
from trackers.tweets.record import Measured, record

AT = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
BEFORE = AT - timedelta(days=1)
SECOND, MILLISECOND = timedelta(seconds=1), timedelta(milliseconds=1)
HOLE = timedelta(minutes=2)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def listened(db):
    subscribe("tweets")


def measure(seconds, likes, *ids, **more):
    at = AT + seconds * SECOND
    record([Measured(id, at, figures(likes, **more), HOLE) for id in ids or (1,)])


def test_a_change_is_published_with_metrics_before_and_after():
    TweetFactory(id=1, tracked_at=BEFORE)
    measure(0, 5, views=7)
    measure(60, 6, views=2**40)

    assert events_of() == [
        ("update", 1, ms(AT + 60 * SECOND), [0, 0, 5, 0, 0, 7, 0, 0, 6, 0, 0, 2**40], None)
    ]


def test_first_equal_and_older_measurements_are_no_change():
    TweetFactory(id=1, tracked_at=BEFORE)
    measure(0, 5)
    measure(60, 5)
    measure(30, 4)
    # After a hole a run begins anew, with the same figures.
    measure(1000, 5)

    assert events_of() == []


def test_without_subscribers_no_event_is_stored():
    TweetFactory(id=1, tracked_at=BEFORE)
    subscribe("sources", "alerts")
    measure(0, 5)
    measure(60, 5_000_000)

    assert not Event.objects.exists()
    assert not Staged.objects.exists()


def test_the_changes_of_a_statement_are_staged_together_in_the_order_of_tweets():
    for id in (3, 1, 2):
        TweetFactory(id=id, tracked_at=BEFORE)
    measure(0, 5, 3, 1, 2)
    measure(60, 6, 3, 1, 2)

    [only] = Staged.objects.all()
    assert only.events == sorted(only.events)
    assert kinds() == [("update", 1), ("update", 2), ("update", 3)]
    [received_at] = set(Event.objects.values_list("received_at", flat=True))
    assert only.received_at == received_at


def test_each_event_of_a_tweet_is_later_than_the_one_before():
    # Tracked by another while this answer was on its way.
    TweetFactory(id=1, tracked_at=AT + 40 * MILLISECOND)
    for nth, milliseconds in enumerate((0, 10, 60, 60.3, 62, 1000)):
        measure(milliseconds / 1000, nth)

    times = [ms(AT + 40 * MILLISECOND), *(one.t for one in events_of())]
    assert times == sorted(set(times))
    assert times[-1] == ms(AT + SECOND)


def test_a_returning_tweet_is_created_again_after_its_deletion():
    TweetFactory(
        id=1, tracked_at=BEFORE, gone_at=AT, measured_until=AT, taken_at=AT, measurements=1, likes=5
    )
    measure(0, 5)

    [(kind, id, t, counts, _)] = events_of()
    assert (kind, id, t) == ("create", 1, ms(AT) + 1)
    assert counts[8] == 5
    assert Tweet.objects.get().gone_at is None


@pytest.mark.parametrize("measurements", [0, 1])
def test_metrics_from_before_its_deletion_publish_nothing(measurements):
    subscribe("tweets", "milestones")
    Milestone.objects.create(metric="likes", at=5)
    known = {"measured_until": AT, "taken_at": AT, "measurements": 1, "likes": 1}
    TweetFactory(
        id=1, tracked_at=BEFORE, gone_at=AT + 60 * SECOND, **(known if measurements else {})
    )

    measure(30, 6)

    assert events_of() == []
    tweet = Tweet.objects.get()
    assert (tweet.likes, tweet.gone_at) == (6, AT + 60 * SECOND)


def test_metrics_from_before_it_was_missing_are_a_change():
    TweetFactory(
        id=1, tracked_at=BEFORE, missing_since=AT + 60 * SECOND, missing_reason="not_found",
        measured_until=AT, taken_at=AT, measurements=1, likes=1,
    )  # fmt: skip

    measure(30, 6)

    assert kinds() == [("update", 1)]
    assert Tweet.objects.get().missing_reason == "not_found"


@pytest.mark.django_db(transaction=True)
def test_two_concurrent_measurers_publish_each_change_once_and_in_order():
    ids = range(1, 6)
    for id in ids:
        TweetFactory(id=id, tracked_at=BEFORE)
    measure(0, 0, *ids)

    def write(odd):
        for nth in range(1 + odd, 60, 2):
            measure(nth, nth, *ids)

    assert together(partial(write, 0), partial(write, 1)) == []

    for id in ids:
        events = [one for one in events_of() if one.tweet_id == id]
        likes = [0, *(one.figures[8] for one in events)]
        assert [one.figures[2] for one in events] == likes[:-1], "each goes on from the one before"
        assert likes == sorted(set(likes))
        assert [one.t for one in events] == [ms(AT + nth * SECOND) for nth in likes[1:]]
        assert likes[-1] == Tweet.objects.get(id=id).likes == 59
