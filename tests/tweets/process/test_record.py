"""One function writes samples, and no measurement is lost or invented."""

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.factories import TweetFactory, figures
from tests.together import together
from trackers.tweets.history import history
from trackers.tweets.models import Sample, Tweet
from trackers.tweets.record import Change, Measured, record
from trackers.xapi.results import Figures

AT = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOLE = 2 * MINUTE

pytestmark = pytest.mark.django_db


def measure(minutes, told, *, id=1, hole_after=HOLE):
    return record([Measured(id, AT + minutes * MINUTE, told, hole_after)])


def runs(id=1):
    """(minutes from, minutes until, measurements, likes) of each run."""
    return [
        (
            (run.taken_at - AT) / MINUTE,
            (run.measured_until - AT) / MINUTE,
            run.measurements,
            run.likes,
        )
        for run in history(id)
    ]


def test_the_first_sample_is_stored_on_the_tweet():
    TweetFactory(id=1)

    changes = measure(0, figures(5))

    assert changes == [Change(1, AT, None, figures(5))]
    assert runs() == [(0, 0, 1, 5)]
    assert Sample.objects.count() == 0


def test_unchanged_metrics_extend_the_newest_sample():
    TweetFactory(id=1)
    measure(0, figures(5))

    assert measure(1, figures(5)) == []
    assert measure(2, figures(5)) == []

    assert runs() == [(0, 2, 3, 5)]


def test_changed_metrics_close_the_sample_and_begin_another():
    TweetFactory(id=1)
    measure(0, figures(5))
    measure(1, figures(5))

    changes = measure(2, figures(6))

    assert changes == [Change(1, AT + 2 * MINUTE, figures(5), figures(6))]
    assert runs() == [(0, 1, 2, 5), (2, 2, 1, 6)]


def test_falling_counts_are_stored_as_they_are():
    TweetFactory(id=1)
    for minutes, likes in enumerate((5, 3, 4, 0)):
        measure(minutes, figures(likes))

    assert [likes for *_, likes in runs()] == [5, 3, 4, 0]


@pytest.mark.parametrize("place", range(6))
def test_an_unknown_count_differs_from_zero(place):
    TweetFactory(id=1)
    unknown = Figures(*(None if n == place else 0 for n in range(6)))

    measure(0, figures(0))
    [change] = measure(1, unknown)
    [back] = measure(2, figures(0))

    assert (change.before, change.after) == (figures(0), unknown)
    assert (back.before, back.after) == (unknown, figures(0))
    assert measure(3, figures(0)) == []


def test_a_sample_does_not_span_a_gap():
    TweetFactory(id=1)
    measure(0, figures(5))
    measure(2, figures(5))

    changes = measure(4.1, figures(5))

    assert changes == []
    assert runs() == [(0, 2, 2, 5), (4.1, 4.1, 1, 5)]


def test_without_an_interval_each_measurement_is_its_own_sample():
    TweetFactory(id=1)
    measure(0, figures(5))
    measure(1, figures(5), hole_after=None)

    assert runs() == [(0, 0, 1, 5), (1, 1, 1, 5)]


def test_a_belated_measurement_is_a_closed_sample_of_its_own():
    TweetFactory(id=1)
    measure(0, figures(5))
    measure(2, figures(7))

    assert measure(1, figures(6)) == []

    assert runs() == [(0, 0, 1, 5), (1, 1, 1, 6), (2, 2, 1, 7)]
    assert Tweet.objects.get().likes == 7


@pytest.mark.parametrize("likes", [7, 8])
def test_a_measurement_of_a_clock_that_was_ahead_is_not_the_newest(likes):
    """Else a tweet would show it until its time has come."""
    TweetFactory(id=1)
    now = timezone.now()

    def measure(after, likes):
        record([Measured(1, now + after, figures(likes), HOLE)])
        tweet = Tweet.objects.get()
        return tweet.likes, tweet.measured_until - now, tweet.measurements

    measure(-5 * MINUTE, 5)
    measure(timedelta(days=1), 7)

    assert measure(-2 * MINUTE, likes) == (likes, -2 * MINUTE, 1)
    assert measure(-MINUTE, likes) == (likes, -MINUTE, 2)
    # That one is kept, as are belated ones.
    assert measure(-3 * MINUTE, 6) == (likes, -MINUTE, 2)
    ended = [(run.taken_at - now, run.likes) for run in Sample.objects.order_by("taken_at")]
    assert ended == [(-5 * MINUTE, 5), (-3 * MINUTE, 6), (timedelta(days=1), 7)]


def test_a_tweet_that_is_not_tracked_gets_no_sample():
    assert measure(0, figures(5)) == []

    assert history(1) == []


def test_the_largest_counts_fit():
    TweetFactory(id=1)
    most = Figures(*[2**31 - 1] * 5, 2**63 - 1)

    measure(0, most)
    measure(1, figures(0))

    assert history(1)[0].views == 2**63 - 1


def test_a_tweet_that_comes_back_is_no_longer_gone():
    TweetFactory(id=1, missing_since=AT, missing_reason="not_found", gone_at=AT)

    measure(1, figures(1))

    tweet = Tweet.objects.get()
    assert (tweet.missing_since, tweet.missing_reason, tweet.gone_at) == (None, "", None)


def test_an_empty_measurement_writes_nothing():
    assert record([]) == []


few = st.integers(0, 2)
measurements = st.lists(st.tuples(st.integers(0, 12), few, st.none() | few), max_size=12)
quick = hypothesis_settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@quick
@given(measurements)
def test_every_measurement_is_in_the_history_whatever_the_order(values):
    Tweet.objects.all().delete()
    Sample.objects.all().delete()
    TweetFactory(id=1)

    for minutes, likes, views in values:
        measure(minutes, Figures(None, 0, likes, 0, 0, views))

    samples = history(1)
    assert sum(run.measurements for run in samples) == len(values)
    for minutes, likes, views in values:
        at = AT + minutes * MINUTE
        assert any(
            run.taken_at <= at <= run.measured_until and (run.likes, run.views) == (likes, views)
            for run in samples
        )
    # No run hides a hole, and none is longer than its measurements can make it.
    assert all(
        run.measured_until - run.taken_at <= HOLE * (run.measurements - 1) for run in samples
    )


@pytest.mark.django_db(transaction=True)
def test_two_writers_of_the_same_tweets_count_every_measurement_once():
    ids = range(1, 21)
    for id in ids:
        TweetFactory(id=id)

    def write(odd):
        for minutes in range(odd, 60, 2):
            at = AT + minutes * MINUTE
            order = ids if odd else reversed(ids)
            record([Measured(id, at, figures(minutes // 4), HOLE) for id in order])

    assert together(partial(write, 0), partial(write, 1)) == []

    for id in ids:
        assert sum(run.measurements for run in history(id)) == 60
