"""Rules about the tweets of a tag or of a saved view, of each kind that is about tweets."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from tests.alerts.conftest import HOUR, NOW, minute, moves, rule, tweet
from tests.alerts.db.test_thresholds import measure
from tests.scores.posts import post, usual_posts
from trackers.alerts import membership
from trackers.alerts.membership import MAX_FINDINGS
from trackers.alerts.models import AlertNotice
from trackers.saved_views.models import SavedView
from trackers.scores.benchmarks import make_benchmarks
from trackers.scores.update import score_tweets
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.models import Author
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import get_or_create_tag
from trackers.tweets.tags.tagging import tag_tweets
from tweetwatch.time_limits import TookTooLong

pytestmark = pytest.mark.django_db


@pytest.fixture
def tag():
    return get_or_create_tag("launch")


@pytest.fixture
def view():
    user = User.objects.create_user("ada")
    return SavedView.objects.create(user=user, name="Of 8", query="author=8&sort=likes")


def alerted(nth=0):
    """The tweets by rule."""
    minute(nth)
    notices = AlertNotice.objects.order_by("pk")
    return {one.rule_name: sorted(int(line["of"]) for line in one.lines) for one in notices}


def both_rules(kind, tag, view, **given):
    rule(kind, metric="likes", name="tag", about="tag", of=tag.pk, **given)
    rule(kind, metric="likes", name="view", about="view", of=view.pk, **given)


def test_velocity_of_a_tag_and_of_a_view(tag, view):
    for id, author in ((1, 7), (2, 8), (3, 9), (4, 8)):
        moves(tweet(id, author=author), 2000 if id < 4 else 999)
    tag_tweets(tag.pk, [1, 3, 4])
    both_rules("velocity", tag, view, at=1000)

    assert alerted() == {"tag": [1, 3], "view": [2]}
    assert minute(1) == []


def test_milestones_of_a_tag_and_of_a_view(tag, view):
    for id, author in ((1, 7), (2, 8), (3, 9)):
        tweet(id, author=author)
        measure(id, 0, 50)
    tag_tweets(tag.pk, [1, 3])
    both_rules("milestone", tag, view, at=100)
    assert minute() == []
    for id in (1, 2, 3):
        measure(id, 1, 110)

    assert alerted(1) == {"tag": [1, 3], "view": [2]}


def test_unusual_tweets_of_a_tag_and_of_a_view(tag, view):
    for author in (7, 8):
        Author.objects.create(id=author, username=f"a{author}")
        for place in range(1, len(AGES) + 1):
            first = (40 + place) * timedelta(days=1)
            usual_posts(author, 12, place=place, likes=100, first=first)
    make_benchmarks([7, 8], now=NOW)
    mine, other = (post(author, posted=HOUR, likes=330) for author in (7, 8))
    score_tweets([mine.pk, other.pk], now=NOW)
    tag_tweets(tag.pk, [mine.pk])
    both_rules("usual", tag, view, times=3)

    assert alerted() == {"tag": [mine.pk], "view": [other.pk]}


def test_the_hundred_fastest_of_a_set_are_found_behind_others(tag):
    for id in range(1, 301):
        moves(tweet(id, author=8), 5000 - id)
    tag_tweets(tag.pk, range(150, 301))
    rule("velocity", metric="likes", at=1, name="tag", about="tag", of=tag.pk)

    assert len(minute()) == MAX_FINDINGS
    [notice] = AlertNotice.objects.all()
    assert [line["of"] for line in notice.lines[:2]] == ["150", "151"]


def test_rules_about_what_was_removed_find_nothing_and_the_others_go_on(tag, view):
    moves(tweet(1, author=8), 2000)
    tag_tweets(tag.pk, [1])
    both_rules("velocity", tag, view, at=1000)
    rule("velocity", metric="likes", at=1000, name="all")
    Tag.objects.update(ended_at=NOW)
    view.delete()

    assert alerted() == {"all": [1]}


def test_a_view_that_takes_too_long_leaves_the_other_rules_alone(tag, view, monkeypatch, caplog):
    def too_long(*_, **__):
        raise TookTooLong

    monkeypatch.setattr(membership, "matching_among", too_long)
    moves(tweet(1, author=8), 2000)
    tag_tweets(tag.pk, [1])
    both_rules("velocity", tag, view, at=1000)

    assert alerted() == {"tag": [1]}
    assert f"rules about the saved view {view.pk}" in caplog.text


def test_a_view_asks_what_it_asks_for_now(view):
    moves(tweet(1, author=9), 2000)
    rule("velocity", metric="likes", at=1000, name="view", about="view", of=view.pk)
    assert alerted() == {}

    SavedView.objects.update(query="author=9")

    assert alerted(1) == {"view": [1]}
