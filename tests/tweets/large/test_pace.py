"""How fast figures grow: the rule, its edges, and the same rule in SQL."""

import math
import random
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import TweetFactory
from trackers.schedule.intervals import current
from trackers.tweets.models import Tweet
from trackers.tweets.pace import ZERO_COUNTS, Counts, growth, pace, strangers_pace
from trackers.tweets.record import Measured, record
from trackers.xapi.results import Figures
from tweetwatch.database import cursor

MINUTE, HOUR, DAY = 60, 3600, 86400


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((0, 0, 0), (0, 0, 0), 0),
        # 90 to 190, with ten added, is a doubling of one of three.
        ((90, 5, 5), (190, 5, 5), math.log(2) / 3),
        ((190, 5, 5), (90, 5, 5), math.log(2) / 3),
        # What X does not tell is left out, not taken as 0.
        ((90, None, 5), (190, 5, None), math.log(2)),
        ((None, None, None), (1, 2, 3), None),
    ],
)
def test_growth_is_the_mean_of_the_known_metrics(before, after, expected):
    found = growth(before, after)

    assert found == expected if expected is None else found == pytest.approx(expected)


def test_a_tweet_first_measured_young_grew_from_zero():
    assert pace(60, None, ZERO_COUNTS, (290, 0, 0), None) == pytest.approx(
        math.log(30) / 3 * math.sqrt(0.3) / 60
    )


def test_a_tweet_first_measured_old_has_the_pace_of_its_age():
    assert pace(DAY, None, ZERO_COUNTS, (5_000_000, 0, 0), None) == strangers_pace(DAY)


def test_steady_growth_keeps_the_share_of_the_age():
    """Figures that grow in proportion to the age: the pace falls as one over the age."""
    last, age = None, 1000.0
    for _ in range(20):
        after = age * 1.2
        last = pace(after, age, (int(age * 1e4), 0, 0), (int(after * 1e4), 0, 0), last)
        age = after

    # A third of ln 1.2 in a fifth of the age, carried to its end.
    assert last * age == pytest.approx(math.log(1.2) / 3 / (1 / 6) * math.sqrt(1 / 1.2), rel=0.05)


def test_the_newest_growth_has_two_fifths_of_the_weight():
    moved = pace(2 * HOUR, HOUR, (100, 1, 1), (200, 1, 1), None)

    assert pace(2 * HOUR, HOUR, (1, 1, 1), (1, 1, 1), 0.01) == pytest.approx(0.6 * 0.01 / 2)
    assert pace(2 * HOUR, HOUR, (100, 1, 1), (200, 1, 1), 0.0) == pytest.approx(0.4 * moved)


def test_a_measurement_seconds_after_the_last_hardly_changes_the_pace():
    assert pace(1001, 1000, (5, 5, 5), (9000, 5, 5), 0.01) == pytest.approx(0.01 * 1000 / 1001)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -0.5])
def test_a_bad_pace_is_unknown(bad):
    known = pace(2 * HOUR, HOUR, (100, 1, 1), (200, 1, 1), None)

    assert pace(2 * HOUR, HOUR, (100, 1, 1), (200, 1, 1), bad) == known


AGES = st.floats(min_value=-300, max_value=40 * DAY)
COUNTS = st.tuples(*[st.none() | st.integers(0, 2**40)] * 3)
PACES = st.none() | st.floats(allow_nan=True, allow_infinity=True, width=32)


@given(AGES, st.none() | st.floats(min_value=0, max_value=DAY), COUNTS, COUNTS, PACES)
def test_the_pace_is_finite_for_every_input(age, gap, before, after, last):
    last_age = None if gap is None else age - gap

    found = pace(age, last_age, before, after, last)

    assert math.isfinite(found)
    assert found >= 0


THESE = """
    SELECT trackers_pace_v1(age, last_age, last, v, l, r, ov, ol, orr)
    FROM unnest(%s::float8[], %s::float8[], %s::bigint[], %s::int[], %s::int[],
                %s::bigint[], %s::int[], %s::int[], %s::float4[])
        WITH ORDINALITY AS a(age, last_age, ov, ol, orr, v, l, r, last, n)
    ORDER BY n
"""


@pytest.mark.django_db
def test_sql_and_rule_agree():
    chance = random.Random(18)
    cases = [case(chance) for _ in range(10_000)]
    columns = [
        [age for age, *_ in cases],
        [last_age for _, last_age, *_ in cases],
        *(list(column) for column in zip(*(before for _, _, before, _, _ in cases), strict=True)),
        *(list(column) for column in zip(*(after for _, _, _, after, _ in cases), strict=True)),
        [last for *_, last in cases],
    ]

    with cursor() as db:
        found = [row[0] for row in db.execute(THESE, columns)]

    assert found == [pytest.approx(pace(*one), rel=1e-6) for one in cases]


def case(
    chance: random.Random,
) -> tuple[float, float | None, Counts, Counts, float | None]:
    age = chance.choice([0.0, 1.0, -3.0, 300.0, math.exp(chance.uniform(0, math.log(40 * DAY)))])
    last_age = chance.choice(
        [None, age - 1, age - 5, age - 60, max(0.0, age) * chance.random(), age + 2]
    )
    last = chance.choice([None, 0.0, 0.25, 2**-20, 2**-149, math.nan, math.inf, -1.0])
    return age, last_age, counts(chance), counts(chance), last


def counts(chance: random.Random) -> Counts:
    views, likes, retweets = (
        chance.choice([None, 0, 1, chance.randrange(10**6)]) for _ in range(3)
    )
    return views, likes, retweets


@pytest.mark.django_db
def test_the_pace_of_an_unchanging_tweet_stays_above_what_its_column_holds():
    """The average shrinks with each look, and must not shrink below what the column can hold."""
    now, _ = current()
    TweetFactory(id=1, created_at=now - timedelta(days=1))
    quiet = Figures(0, 0, 0, 0, 0, 0)

    for minute in (*range(300), 3 * 1440):
        record([Measured(1, now + timedelta(minutes=minute), quiet, timedelta(days=9))])

    tweet = Tweet.objects.get()
    assert tweet.measurements == 301
    assert 0 < tweet.pace <= 1e-15 * 1.0001
