"""When next, where money is short: paid days are closed, new ones begun later."""

import math
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trackers.schedule.adapt import Bounds, adapted_wait
from trackers.schedule.paid_days import DAY_S, LATE_S, SPREAD_S, across_days
from trackers.schedule.stretch.days import MARGIN, MAX_DAY_STRETCH, needed_day_stretch, tweet_days
from trackers.schedule.stretch.solve import Group
from tweetwatch.database import cursor

MINUTE, HOUR, DAY = 60, 3600, 86400
NOON = 20_000 * DAY_S + DAY_S / 2


def test_a_wait_within_the_tweet_day_is_kept():
    assert across_days(NOON, 3 * HOUR, day_stretch=5, longest=DAY, chance=0.5) == 3 * HOUR


def test_the_last_look_up_of_a_paid_tweet_day_is_at_its_end():
    """The next look-up would be tomorrow: one more today, spread over half an hour."""
    close = 12 * HOUR - LATE_S
    closing = [across_days(NOON, 20 * HOUR, day_stretch=5, longest=DAY, chance=c) for c in (0, 1)]
    assert closing == [close - SPREAD_S, close]


@pytest.mark.parametrize(
    ("longest", "found"), [(12 * DAY, 10 * DAY), (6 * DAY, 6 * DAY), (DAY, 4 * DAY)]
)
def test_a_new_tweet_day_is_postponed_up_to_a_bound(longest, found):
    # Four days' wait: too little of it is left of today to close the day.
    assert across_days(NOON, 4 * DAY, day_stretch=2.5, longest=longest, chance=0.5) == found


WAITS = st.floats(min_value=1, max_value=30 * DAY)
TIMES = st.floats(min_value=0, max_value=2e9)
SHARES = st.floats(min_value=0, max_value=1)


@settings(max_examples=200)
@given(
    TIMES,
    WAITS,
    st.none() | st.floats(min_value=-2 * LATE_S, max_value=2 * LATE_S),
    st.floats(min_value=-0.5, max_value=0.5),
    st.floats(1, 100),
    SHARES,
)
def test_jitter_never_moves_a_look_up_into_an_unpaid_day(
    now, usual, from_midnight, jitter, day_stretch, chance
):
    """A look-up is due well before midnight, or begins a day, as late as it should."""
    wait = usual * (1 + jitter)
    if from_midnight is not None:
        # It would be due just before midnight, or just after.
        now = 20_000 * DAY_S - wait + from_midnight
    longest = 3 * usual

    results = across_days(now, wait, day_stretch=day_stretch, longest=longest, chance=chance)

    left = DAY_S - now % DAY_S
    late = min(LATE_S, wait / 2)
    assert results > 0
    if results < left:
        assert results <= left - late + 1e-3, "a little late, and it would be tomorrow"
        assert results <= wait
    else:
        assert results >= left + min(SPREAD_S, wait / 2) * chance - 1e-3
        assert results >= min(wait * day_stretch, longest) - 1e-3
        # Nobody is blind for longer: three times the usual, or until midnight and a while.
        assert results <= max(longest, wait, 2 * wait) * (1 + 1e-9)


@pytest.mark.parametrize(("wait", "over"), [(20, 10), (200, 100), (360, 180)])
def test_look_ups_near_midnight_are_spread_over_the_first_minutes_of_the_new_day(wait, over):
    """Too late to close the day, they wait for the new one: by half of their wait at most."""
    now = 20_000 * DAY_S - wait - 5
    collected = [
        now + across_days(now, wait, day_stretch=1.0, longest=3 * wait, chance=chance)
        for chance in (0, 0.5, 1)
    ]

    assert [at - 20_000 * DAY_S for at in collected] == [0, over / 2, over]


@pytest.mark.parametrize("wait", [20, 10 * MINUTE, 3 * HOUR, 8 * HOUR])
def test_look_ups_of_the_morning_are_spread(wait):
    chance = random.Random(4)
    midnight = 20_000 * DAY_S
    lookups: list[float] = []
    for _ in range(2000):
        # Looked at before, at any time of the last wait; those for which a closing look-up is due
        # have it first.
        now = midnight - wait * chance.random()
        while now < midnight:
            now += across_days(now, wait, day_stretch=1.2, longest=3 * wait, chance=chance.random())
        lookups.append(now - midnight)

    slot = max(1.0, min(SPREAD_S, wait) / 10)
    fullest = max(Counter(int(look / slot) for look in lookups).values())
    assert fullest <= len(lookups) / 3, "never all at once"
    assert sum(look < 1 for look in lookups) <= len(lookups) / 4


@pytest.mark.django_db
def test_sql_and_rule_agree():
    chance = random.Random(18)
    cases = []
    for _ in range(10_000):
        # A third of them within the last hours of a day.
        time = chance.choice([chance.uniform(0, DAY), chance.uniform(0, DAY), DAY - HOUR])
        wait = math.exp(chance.uniform(0, math.log(30 * DAY)))
        cases.append(
            (
                20_000 * DAY_S + time + chance.uniform(0, HOUR),
                chance.choice([wait, DAY - time % DAY, DAY - time % DAY - LATE_S]),
                chance.choice([1.0, chance.uniform(1, 30)]),
                chance.uniform(0, 3) * wait,
                chance.choice([0.0, 1.0, chance.random()]),
            )
        )
    cases = [case for case in cases if case[1] > 0]
    ats = [datetime.fromtimestamp(case[0], UTC) for case in cases]
    columns = [list(map(float, each)) for each in zip(*[case[1:] for case in cases], strict=True)]
    with cursor() as db:
        from_database = db.execute(
            f"""SELECT trackers_across_days_v1(wait, left_, s, longest, chance) FROM (
                    SELECT *, trackers_left_of_day_v1(at) AS left_
                    FROM unnest(%s::timestamptz[], {", ".join(["%s::float8[]"] * 4)})
                        WITH ORDINALITY AS a(at, wait, s, longest, chance, n)
                ) a ORDER BY n""",
            [ats, *columns],
        ).fetchall()

    expected = [
        across_days(at.timestamp(), wait, day_stretch=s, longest=longest, chance=place)
        for at, (_, wait, s, longest, place) in zip(ats, cases, strict=True)
    ]
    assert [row[0] for row in from_database] == [pytest.approx(one, abs=0.01) for one in expected]


# ---------------------------------------------------------------- how much is needed

MONTHLY, WEEKLY = Bounds(0.05, 15 * MINUTE, 4 * DAY), Bounds(0.05, 5 * MINUTE, DAY)
FLEET = [
    Group(1000, 12 * HOUR, 0.1 / HOUR, Bounds(0.05, MINUTE, 3 * HOUR)),
    Group(3000, 3 * DAY, 0.02 / HOUR, WEEKLY),
    Group(6000, 5 * DAY, 0.1 / DAY, WEEKLY),
    Group(20_000, 20 * DAY, 0.01 / DAY, MONTHLY),
    Group(100, 60, 0, None, every=2 * DAY),
]


def test_without_a_stretch_a_tweet_costs_one_tweet_day_per_day_or_wait():
    few = [Group(10, 20 * DAY, 0, MONTHLY), Group(10, 12 * HOUR, 0, WEEKLY)]
    fixed = Group(10, 0, 0, None, every=2 * DAY)

    assert tweet_days([*few, fixed], 1.0) == pytest.approx(10 / 4 + 10 + 10 / 2)


@pytest.mark.parametrize("day_stretch", [1.3, 2.0, 5.0])
def test_counted_tweet_days_equal_those_of_the_rule(day_stretch):
    """A hundred tweets a group are walked through 60 days, look-up by look-up."""
    chance = random.Random(2)
    for group in FLEET[:-1]:
        bounds = group.bounds
        assert bounds
        usual = adapted_wait(group.age, group.pace, bounds)
        days = 0
        for _ in range(100):
            now, end = DAY * chance.random(), 61 * DAY
            paid = set()
            while now < end:
                paid.add(int(now // DAY))
                # Waits are of no fixed length: tweets grow older, and livelier or quieter.
                wait = usual * chance.uniform(0.85, 1.15)
                now += across_days(
                    now,
                    wait,
                    day_stretch=day_stretch,
                    longest=3 * bounds.at_least,
                    chance=chance.random(),
                )
            days += len(paid)
        expected = 60 * tweet_days([group._replace(tweets=100)], day_stretch)
        assert days - 100 == pytest.approx(expected, rel=0.08), group


@settings(max_examples=20)
@given(st.floats(min_value=0.3, max_value=1))
def test_the_stretch_is_just_sufficient(share):
    wanted = tweet_days(FLEET, 1.0) + 500
    allowed = share * wanted

    stretch = needed_day_stretch(FLEET, allowed=allowed, arrivals=500)

    if stretch == 1:
        assert wanted <= allowed
    elif stretch < MAX_DAY_STRETCH:
        assert tweet_days(FLEET, stretch) + 500 <= allowed * (1 + MARGIN)
        if stretch > 1.05:
            assert tweet_days(FLEET, stretch / 1.02) + 500 > allowed * (1 + MARGIN) * 0.97


@pytest.mark.parametrize(
    ("allowed", "found"), [(1e9, 1.0), (0.0, MAX_DAY_STRETCH), (10.0, MAX_DAY_STRETCH)]
)
def test_the_stretch_is_one_with_plenty_and_maximal_with_nothing(allowed, found):
    assert needed_day_stretch(FLEET, allowed=allowed, arrivals=100) == found


def test_an_import_of_a_million_postpones_no_tweet_for_weeks():
    """At once, with hardly any money, at any time of day: three times *at least every* at most."""
    many = [Group(1e6, 20 * DAY, 0.01 / DAY, MONTHLY)]
    day_stretch = needed_day_stretch(many, allowed=1000, arrivals=0, stretch=3)
    wait = adapted_wait(20 * DAY, 0.01 / DAY, MONTHLY, 3)
    waits = [
        across_days(
            20_000 * DAY_S + hour * HOUR,
            wait,
            day_stretch=day_stretch,
            longest=3 * MONTHLY.at_least,
            chance=0.5,
        )
        for hour in range(24)
    ]

    assert day_stretch == MAX_DAY_STRETCH
    assert max(waits) <= 3 * MONTHLY.at_least


def test_midnight_is_utc():
    """In SQL as well, whatever the time zone of the connection."""
    at = datetime(2027, 3, 10, 23, 0, tzinfo=UTC) + timedelta(minutes=30)

    assert DAY_S - at.timestamp() % DAY_S == 30 * MINUTE
