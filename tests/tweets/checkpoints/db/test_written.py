"""Each save writes what tweets had at the ages that they crossed: as a plain recount says."""

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from tests.factories import TweetFactory
from trackers.tweets.checkpoints.ages import AGES, AGES_S, count_between, is_enclosed, place_of
from trackers.tweets.checkpoints.models import Checkpoint, CrossedAges, PackedCheckpoints
from trackers.tweets.checkpoints.read import checkpoints_of
from trackers.tweets.pack import CHECKPOINTS, pack, retire
from trackers.tweets.record import RECORD_MEASURED, Measured, record
from trackers.tweets.snowflake import born_at, first_id_at
from trackers.xapi.results import Figures
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

M, H, D = (timedelta(**{unit: 1}) for unit in ("minutes", "hours", "days"))
BORN = datetime(2026, 1, 31, 20, tzinfo=UTC)


def later():
    return Deadline.after(3600)


def recount(measurements):
    """From all measurements of one tweet, as (age, Figures): what it had at each age."""
    return {
        age: Figures(
            *(
                count_between(age, before=(early, low), after=(late, high))
                for low, high in zip(before, after, strict=True)
            )
        )
        for age in AGES
        for (early, before), (late, after) in pairwise(measurements)
        if is_enclosed(age, before=early, after=late)
    }


def drawn_measurements(draw):
    """Ages and counts: some tweets are looked up rarely, some not at all for a while."""
    age, counts = draw.uniform(10, 400), [0] * 6
    factor = draw.choice([1.02, 1.2, 1.9, 3])
    measurements = []
    while age < 40 * 86400 and len(measurements) < 80:
        counts = [max(0, count + draw.choice([0, 0, 1, 700, -3])) for count in counts]
        known = [count if draw.random() > 0.02 else None for count in counts]
        measurements.append((timedelta(seconds=round(age, 3)), Figures(*known)))
        age = age * draw.uniform(1, factor) + draw.choice([0.001, 5, 60])
    return measurements


def save(drawn):
    """The measurements of tweets by their ids: a batch of the first of each, then of the second."""
    for turn in range(max(map(len, drawn.values()))):
        record(
            [
                Measured(id, BORN + age, counts, H)
                for id, measurements in drawn.items()
                for age, counts in measurements[turn : turn + 1]
            ]
        )


@pytest.mark.parametrize("chain", ["locking", "returning"])
@pytest.mark.parametrize("packed_at", [None, 3 * D, 60 * D], ids=["rows", "both", "arrays"])
def test_checkpoints_equal_a_recount_of_all_measurements(chain, packed_at, monkeypatch):
    with cursor() as db:
        if chain == "returning" and db.connection.info.server_version < 180000:
            pytest.skip("this server cannot return a row as it was before")
    monkeypatch.setattr(
        type(RECORD_MEASURED), "on", lambda statement, db: getattr(statement, chain)
    )
    draw = random.Random(11)
    CHECKPOINTS.make_ahead(now=BORN)
    drawn = {TweetFactory(created_at=BORN).id: drawn_measurements(draw) for _ in range(40)}
    save(drawn)
    expected = {id: recount(measurements) for id, measurements in drawn.items()}
    if packed_at:
        pack(now=BORN + packed_at, deadline=later())

    assert checkpoints_of(expected) == expected

    assert sum(map(len, expected.values())) > 200
    noted = [
        pair
        for row in CrossedAges.objects.order_by("id")
        for pair in zip(row.ids, row.ages, strict=True)
    ]
    assert sorted(noted) == sorted(
        (id, place_of(age)) for id, of_tweet in expected.items() for age in of_tweet
    )
    one = [H, D]
    assert checkpoints_of(expected, one) == {
        id: {age: of_tweet[age] for age in one if age in of_tweet}
        for id, of_tweet in expected.items()
    }


def test_before_x_said_when_it_was_posted_its_id_does():
    tweet = TweetFactory(id=first_id_at(int(BORN.timestamp() * 1000)), created_at=None)

    for minutes in (50, 70):
        record([Measured(tweet.id, BORN + minutes * M, Figures(*[minutes] * 6), H)])

    assert born_at(tweet.id) == BORN
    assert checkpoints_of([tweet.id]) == {tweet.id: {H: Figures(*[60] * 6)}}


def test_a_belated_measurement_and_one_of_a_clock_that_was_ahead_write_none():
    tweet = TweetFactory(created_at=datetime.now(UTC) - 55 * M)
    born = tweet.created_at
    record([Measured(tweet.id, born + 56 * M, Figures(*[1] * 6), H)])
    record([Measured(tweet.id, born + 58 * M, Figures(*[2] * 6), H)])

    record([Measured(tweet.id, born + 57 * M, Figures(*[9] * 6), H)])
    assert not Checkpoint.objects.exists()

    record([Measured(tweet.id, born + 300 * M, Figures(*[9] * 6), H)])
    record([Measured(tweet.id, born + 62 * M, Figures(*[3] * 6), H)])

    assert checkpoints_of([tweet.id]) == {tweet.id: {}}


def test_python_and_sql_know_the_same_ages():
    ages = [0.0, *AGES_S, *(age - 0.001 for age in AGES_S), *(age + 1 for age in AGES_S), 9e9]
    with cursor() as db:
        rows = db.execute(
            "SELECT trackers_age_place_v1(age) FROM unnest(%s::float8[]) AS age", [ages]
        ).fetchall()

    assert [place for (place,) in rows] == [place_of(timedelta(seconds=age)) for age in ages]


def test_checkpoints_fall_with_the_retention_of_samples():
    now = datetime.now(UTC)
    ids = {days: first_id_at(int((now - days * D).timestamp() * 1000)) for days in (200, 125, 20)}
    for id in ids.values():
        tweet = TweetFactory(id=id, created_at=None)
        for minutes in (50, 70):
            record([Measured(tweet.id, born_at(id) + minutes * M, Figures(*[minutes] * 6), H)])
    pack(now=now, deadline=later())
    assert PackedCheckpoints.objects.count() == 3

    retire(older_than=90 * D, now=now, deadline=later())

    # The one of 125 days was a month old after the beginning of what is kept.
    kept = set(PackedCheckpoints.objects.values_list("tweet_id", flat=True))
    assert kept in ({ids[20]}, {ids[125], ids[20]})
    assert ids[200] not in kept
