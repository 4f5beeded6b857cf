"""Checkpoints of stored samples are those that the saves would have written."""

import json
import random
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command

from tests.factories import TweetFactory
from tests.tweets.checkpoints.db.test_written import drawn_measurements, save
from trackers.tweets.checkpoints import fill
from trackers.tweets.checkpoints.fill import fill_checkpoints
from trackers.tweets.checkpoints.models import Checkpoint, CrossedAges, PackedCheckpoints
from trackers.tweets.checkpoints.read import checkpoints_of
from trackers.tweets.pack import CHECKPOINTS, SAMPLES, pack
from trackers.xapi.results import Figures
from tweetwatch.pieces import Deadline

M, H, D = (timedelta(**{unit: 1}) for unit in ("minutes", "hours", "days"))
BORN = datetime(2026, 1, 31, 20, tzinfo=UTC)


def measured(measurements):
    tweet = TweetFactory(created_at=BORN)
    save({tweet.id: measurements})
    return tweet.id


def always_moving(draw):
    """Of equal measurements not all times are kept."""
    return [
        (age, counts._replace(views=nth))
        for nth, (age, counts) in enumerate(drawn_measurements(draw))
    ]


@pytest.fixture
def tweets():
    draw = random.Random(5)
    CHECKPOINTS.make_ahead(now=BORN)
    SAMPLES.make_ahead(now=BORN)
    drawn = {TweetFactory(created_at=BORN).id: always_moving(draw) for _ in range(30)}
    save(drawn)
    return list(drawn)


@pytest.mark.parametrize("packed_at", [None, 60 * D], ids=["rows", "arrays"])
def test_filled_checkpoints_equal_those_of_the_saves(tweets, packed_at, monkeypatch):
    written = checkpoints_of(tweets)
    if packed_at:
        pack(now=BORN + packed_at, deadline=Deadline.after(3600))
    for model in (Checkpoint, PackedCheckpoints, CrossedAges):
        model.objects.all().delete()
    monkeypatch.setattr(fill, "_TWEETS_PER_PIECE", 7)

    pieces = list(fill_checkpoints())

    assert checkpoints_of(tweets) == written
    assert [piece.tweets for piece in pieces] == [7, 7, 7, 7, 2]
    assert sum(piece.checkpoints for piece in pieces) == sum(map(len, written.values())) > 150
    assert {id for row in CrossedAges.objects.all() for id in row.ids} == {
        id for id in tweets if written[id]
    }


def test_checkpoints_that_are_there_stay_and_others_are_added(tweets):
    written = checkpoints_of(tweets)
    Checkpoint.objects.filter(age__gte=6).delete()
    Checkpoint.objects.filter(age=5).update(likes=77)

    list(fill_checkpoints())

    for id, of_tweet in checkpoints_of(tweets).items():
        for age, counts in of_tweet.items():
            assert counts.likes == (77 if age == H else written[id][age].likes)
        assert of_tweet.keys() == written[id].keys()
    assert [piece.checkpoints for piece in fill_checkpoints()] == [0]


def test_an_interrupted_run_goes_on_where_it_ended(tweets, monkeypatch):
    for model in (Checkpoint, PackedCheckpoints):
        model.objects.all().delete()
    monkeypatch.setattr(fill, "_TWEETS_PER_PIECE", 7)

    run = fill_checkpoints()
    next(run)
    run.close()

    assert [piece.tweets for piece in fill_checkpoints()] == [7, 7, 7, 2]
    # It had ended.
    assert [piece.tweets for piece in fill_checkpoints()] == [7, 7, 7, 7, 2]
    assert [piece.tweets for piece in fill_checkpoints(from_first=True)] == [7, 7, 7, 7, 2]


def test_equal_measurements_say_what_was_had_between_them_if_there_were_enough():
    CHECKPOINTS.make_ahead(now=BORN)
    counts = Figures(*[9] * 6)
    often = measured([(minutes * M, counts) for minutes in range(8, 300, 9)])
    seldom = measured([(8 * M, counts), (300 * M, counts)])
    written = checkpoints_of([often, seldom])
    Checkpoint.objects.all().delete()

    list(fill_checkpoints())

    assert checkpoints_of([often, seldom]) == written
    assert set(written[often].values()) == {counts}
    assert written[seldom] == {}


def test_the_command_says_what_it_did(tweets, capsys):
    Checkpoint.objects.all().delete()

    call_command("checkpoints", "fill", "--json")

    said = json.loads(capsys.readouterr().out)
    assert said["tweets"] == 30
    assert said["added"] == sum(map(len, checkpoints_of(tweets).values()))
