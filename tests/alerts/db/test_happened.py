"""Rules about metrics that fall, second waves, and deleted or edited tweets."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from tests.alerts.conftest import HOUR, MINUTE, NOW, minute, rule, tweet
from trackers.alerts import happened
from trackers.alerts.membership import MAX_FINDINGS
from trackers.alerts.models import AlertNotice, AlertRule
from trackers.alerts.places import HappeningPlace
from trackers.alerts.rehearsal import rehearse
from trackers.happenings.models import Happening
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.saved_views.models import SavedView
from trackers.schedule import tweet_changes
from trackers.tweets.gains.heads import store_heads
from trackers.tweets.tags.names import get_or_create_tag
from trackers.tweets.tags.tagging import tag_tweets

FELL = {"metric": "likes", "before": 100, "after": 60}
WAVE = {"metric": "views", "before": 90, "after": 900}


def happens(what, tweet_id=1, *, at=NOW, **figures):
    return Happening.objects.create(what=what, tweet_id=tweet_id, at=at, figures=figures)


def sentences(nth):
    return [what for _, what in minute(nth)]


@pytest.mark.parametrize(
    ("kind", "what", "figures", "sentence"),
    [
        ("fell", "fell", FELL, "fell from 100 to 60 likes."),
        ("wave", "second_wave", WAVE,
         "has a second wave: 900 views in an hour, after 90 in the one before."),
        ("gone", "gone", {"reason": "not_found", "views": 5}, "is gone: not found."),
        ("gone", "edited", {"versions": 2}, "was edited."),
    ],
)  # fmt: skip
def test_each_kind_alerts_once(kind, what, figures, sentence):
    tweet(1)
    rule(kind, metric="likes" if kind == "fell" else "")
    happens(what, **figures)
    assert minute() == []
    happens(what, **figures)

    assert sentences(1) == [f"Tweet 1 of @a7 {sentence}"]
    assert sentences(2) == sentences(3) == []
    assert AlertNotice.objects.get().lines[0]["url"] == "/tweets/1/"


def test_another_metric_and_a_smaller_fall_do_not_alert():
    tweet(1)
    rule("fell", metric="views")
    rule("fell", metric="likes", at=41)
    rule("wave")
    minute()
    happens("fell", **FELL)
    happens("gone", reason="not_found", views=None)

    assert sentences(1) == []


def test_a_happening_that_is_committed_late_is_read_in_the_next_minute_once():
    for id in (1, 2, 3):
        tweet(id)
    rule("fell", metric="likes")
    minute()
    late, early = happens("fell", 1, **FELL), happens("fell", 2, **FELL)
    Happening.objects.filter(pk=late.pk).delete()

    assert len(sentences(1)) == 1
    late.save(force_insert=True)
    third = happens("fell", 3, **FELL)
    assert [what.split()[1] for what in sentences(2)] == ["1", "3"]
    assert sentences(3) == []
    place = HappeningPlace.objects.get()
    assert (early.pk < place.reached) is True
    assert place.reached == third.pk


def test_without_such_a_rule_no_place_is_kept():
    one = rule("gone")
    minute()
    assert HappeningPlace.objects.exists()
    one.delete()
    minute(1)
    assert not HappeningPlace.objects.exists()


def test_such_rules_keep_to_their_subject():
    source = Source.objects.create(kind="search", of="cats")
    tag = get_or_create_tag("launch")
    ada = User.objects.create_user("ada")
    view = SavedView.objects.create(user=ada, name="v", query="author=8")
    for id, author in ((1, 7), (2, 8)):
        tweet(id, author=author)
    SourceTweet.objects.create(source=source, tweet_id=2, seen_at=NOW)
    tag_tweets(tag.pk, [2])
    subjects = {"tweet": 2, "author": 8, "source": source.pk, "tag": tag.pk, "view": view.pk}
    for about, of in subjects.items():
        rule("gone", about=about, of=of, name=about)
    minute()
    for id in (1, 2):
        happens("edited", id, versions=2)
    minute(1)

    notices = AlertNotice.objects.all()
    raised = {one.rule_name: [line["of"] for line in one.lines] for one in notices}
    assert raised == {about: ["2"] for about in subjects}


def test_a_storm_is_bounded_and_an_untracked_tweet_is_left_out():
    rule("gone")
    minute()
    for id in range(1, MAX_FINDINGS + 5):
        tweet(id)
        happens("edited", id, versions=2)
    assert len(sentences(1)) == MAX_FINDINGS
    happens("edited", 99_999, versions=2)
    tweet_changes.untrack_tweets([1])
    assert sentences(2) == []


def test_a_backlog_is_read_without_reading_anything_twice(monkeypatch):
    monkeypatch.setattr(happened, "_READ_MOST", 3)
    rule("gone")
    minute()
    for id in range(1, 10):
        tweet(id)
        happens("edited", id, versions=2)

    assert [len(sentences(nth)) for nth in range(1, 5)] == [3, 3, 3, 0]


def test_a_rehearsal_lists_the_happenings_of_a_day():
    tweet(1)
    store_heads(now=NOW - timedelta(days=1) + MINUTE)
    happens("fell", at=NOW - 2 * HOUR, **FELL)
    happens("fell", at=NOW - 30 * HOUR, **FELL)

    [fire] = rehearse(AlertRule(kind="fell", metric="likes"), now=NOW).shown

    assert (fire.at, fire.what) == (NOW - 2 * HOUR, "Tweet 1 of @a7 fell from 100 to 60 likes.")
    assert rehearse(AlertRule(kind="fell", metric="likes", at=41), now=NOW).fired == 0
