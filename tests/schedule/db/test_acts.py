"""Acts on tweets: one or many, and piece by piece."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User

from tests.factories import TweetFactory
from trackers.history import by_api
from trackers.schedule import acts
from trackers.tweets.models import Tweet
from trackers.tweets.tags.names import get_or_create_tag


@pytest.fixture
def actor():
    return by_api(User.objects.create_user("ada"))


def history_rows():
    return list(LogEntry.objects.order_by("pk").values_list("object_repr", "change_message"))


def test_one_tweet_is_named_by_id_and_several_by_number(actor):
    first, two = TweetFactory(id=1), TweetFactory(id=2)
    launch = get_or_create_tag("launch")

    done = [
        acts.act_on_tweets("pause", [first], actor),
        acts.act_on_tweets("pause", [first, two], actor),
        acts.act_on_tweets("pause", [first, two], actor),
        acts.act_on_tweets("tag", [two], actor, tag=launch),
    ]

    assert [(one.message, one.count) for one in done] == [
        ("Tweet 1 paused: not checked until resumed.", 1),
        ("1 tweet paused: not checked until resumed.", 1),
        ("2 tweets: paused already.", 0),
        ("Tweet 2 tagged “launch”.", 1),
    ]
    assert history_rows() == [
        ("1", "Paused, by the API."),
        ("1 tweet", "Paused, by the API."),
        ("2", "Tagged “launch”, by the API."),
    ]


def test_acts_done_before_an_interruption_are_in_the_history(actor, monkeypatch):
    monkeypatch.setattr(acts, "TWEETS_PER_PIECE", 1)
    ids = [TweetFactory(id=id).pk for id in (1, 2, 3)]

    steps = acts.act_in_pieces("untrack", ids, actor)
    assert [next(steps), next(steps)] == [1, 1]
    steps.close()

    assert set(Tweet.objects.values_list("pk", flat=True)) == {3}
    assert history_rows() == [("2 tweets", "Untracked, by the API.")]
