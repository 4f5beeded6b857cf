"""When next? The rule is pure: tables of ages."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import IntervalFactory
from trackers.schedule import intervals
from trackers.schedule.intervals import Plan, Tier, jittered
from trackers.schedule.models import Interval

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TICK = timedelta(microseconds=1)
M, H, D = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
DEFAULTS = ((18 * M, M), (60 * M, 5 * M), (D, H), (7 * D, 6 * H), (30 * D, D))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("age", "delay"),
    [
        pytest.param(timedelta(0), M, id="just born"),
        pytest.param(18 * M - TICK, M, id="not yet 18 minutes"),
        pytest.param(18 * M, 5 * M, id="18 minutes belong to the hour"),
        pytest.param(60 * M - TICK, 5 * M, id="not yet an hour"),
        pytest.param(60 * M, H, id="an hour belongs to the day"),
        pytest.param(D - TICK, H, id="not yet a day"),
        pytest.param(D, 6 * H, id="a day belongs to the week"),
        pytest.param(7 * D - TICK, 6 * H, id="not yet a week"),
        pytest.param(7 * D, D, id="a week belongs to the month"),
        pytest.param(30 * D - TICK, D, id="not yet 30 days"),
        pytest.param(30 * D, None, id="30 days are past the last tier"),
        pytest.param(4000 * D, None, id="from before Snowflake"),
        pytest.param(-TICK, M, id="a clock that differs"),
        pytest.param(-5 * M, M, id="five minutes ahead are age 0"),
        pytest.param(-5 * M - TICK, None, id="more than five minutes ahead is a wrong date"),
    ],
)
def test_the_age_decides_the_interval(age, delay):
    assert intervals.update_delay(NOW - age, now=NOW) == delay


@pytest.mark.django_db
def test_without_a_birthdate_there_is_no_interval():
    assert intervals.update_delay(None, now=NOW) is None


def test_a_plan_without_tiers_has_no_interval():
    assert Plan(()).update_delay(NOW, now=NOW) is None


@pytest.mark.django_db
def test_a_disabled_row_is_ignored():
    Interval.objects.filter(younger_than=18 * M).update(enabled=False)

    assert intervals.update_delay(NOW, now=NOW) == 5 * M


@pytest.mark.django_db
def test_without_any_enabled_row_every_tweet_rests():
    Interval.objects.update(enabled=False)

    now, plan = intervals.current()

    assert plan == Plan(())
    assert now.tzinfo is not None


@pytest.mark.django_db
def test_the_current_plan_has_the_rows_by_age():
    Interval.objects.all().delete()
    for younger_than, every in reversed(DEFAULTS):
        IntervalFactory(younger_than=younger_than, every=every)

    _, plan = intervals.current()

    assert plan == Plan(tuple(Tier(a, b, 0.0) for a, b in DEFAULTS))
    assert plan == intervals.plan(Interval.objects.order_by("?"))


spans = st.timedeltas(min_value=timedelta(seconds=1), max_value=timedelta(days=400))


@given(st.lists(spans, unique=True, max_size=6), st.timedeltas(-10 * M, timedelta(days=500)))
def test_the_tier_is_the_first_whose_bound_lies_past_the_age(bounds, age):
    tiers = tuple(Tier(bound, bound) for bound in sorted(bounds))

    found = Plan(tiers).tier(NOW - age, now=NOW)

    covering = [t for t in tiers if max(age, timedelta(0)) < t.younger_than]
    assert found == (covering[0] if covering and age >= -5 * M else None)


@pytest.mark.parametrize(
    ("chance", "seconds"), [(0.0, 95), (0.5, 100), (1.0, 105)], ids=["sooner", "on time", "later"]
)
def test_jitter_moves_a_look_up_within_its_share(chance, seconds):
    tier = Tier(D, timedelta(seconds=100), 0.05)

    assert jittered(tier, chance=chance) == timedelta(seconds=seconds)


def test_jitter_stays_in_its_bounds_and_differs():
    tier = Tier(D, timedelta(seconds=100), 0.5)

    found = {jittered(tier) for _ in range(200)}

    assert len(found) > 150
    assert timedelta(seconds=50) <= min(found) <= max(found) <= timedelta(seconds=150)
