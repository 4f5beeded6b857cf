"""Rules about milestones: a named tweet's figure, and the crossings of all others."""

from datetime import timedelta

from django.utils import timezone

from tests.alerts.conftest import NOW, minute, rule, tweet
from tests.factories import figures
from trackers.alerts.models import AlertNotice
from trackers.alerts.places import AlertPlace
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.milestones.models import Crossing, Milestone
from trackers.outbox.models import Topic
from trackers.tweets.models import Tweet
from trackers.tweets.record import Measured, record

BEGAN = timezone.now() - timedelta(minutes=30)


def measure(id, nth, likes):
    record([Measured(id, BEGAN + timedelta(minutes=nth), figures(likes), timedelta(hours=1))])


def test_a_named_tweet_alerts_at_the_threshold_and_again_only_after_falling():
    tweet(1)
    rule("milestone", metric="likes", at=100, about="tweet", of=1, rest=timedelta(minutes=1))
    measure(1, 0, 50)
    assert minute() == []
    measure(1, 1, 120)
    assert minute(1) == [("down", "Tweet 1 has reached 100 likes: it has 120.")]
    measure(1, 2, 130)
    assert minute(5) == []
    assert not Crossing.objects.exists()
    Tweet.objects.filter(pk=1).update(likes=90)
    assert minute(6) == []
    Tweet.objects.filter(pk=1).update(likes=101)
    assert [what for _, what in minute(7)] == ["Tweet 1 has reached 100 likes: it has 101."]


def test_other_tweets_alert_once_when_they_cross_the_threshold():
    source = Source.objects.create(kind="search", of="cats")
    for id, author in ((1, 7), (2, 8), (3, 9)):
        tweet(id, author=author)
        measure(id, 0, 50)
    SourceTweet.objects.create(source=source, tweet_id=3, seen_at=NOW)
    for name, values in {
        "any": {}, "author": {"about": "author", "of": 8}, "source": {"about": "source",
        "of": source.pk}, "higher": {"at": 1000},
    }.items():  # fmt: skip
        rule("milestone", **{"metric": "likes", "at": 100, "name": name, **values})
    assert minute() == []
    assert set(Milestone.objects.values_list("at", flat=True)) >= {100, 1000}
    for id in (1, 2, 3):
        measure(id, 1, 110)

    minute(1)
    minute(2)

    found = {one.rule_name: [line["of"] for line in one.lines] for one in AlertNotice.objects.all()}
    assert found == {"any": ["1", "2", "3"], "author": ["2"], "source": ["3"]}


def test_a_tweet_untracked_after_its_crossing_does_not_alert():
    tweet(1)
    measure(1, 0, 50)
    rule("milestone", metric="likes", at=100)
    minute()
    measure(1, 1, 110)
    Tweet.objects.all().delete()

    assert minute(1) == []


def test_crossings_are_not_recorded_without_a_threshold_rule():
    alert_rule = rule("milestone", metric="likes", at=100)
    minute()
    assert Topic.objects.get(name="milestones").watched_until
    assert AlertPlace.objects.exists()
    alert_rule.delete()
    Topic.objects.update(watched_until=None)

    minute(1)

    assert not AlertPlace.objects.exists()
    assert Topic.objects.get(name="milestones").watched_until is None
