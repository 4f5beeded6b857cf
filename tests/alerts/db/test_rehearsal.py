"""What a rule that is not saved would have raised in the last day."""

from datetime import timedelta

import pytest

from tests.alerts.conftest import HOUR, MINUTE, NOW, moves, rule, stands_still, tweet
from tests.factories import figures
from trackers.alerts.models import AlertNotice, AlertRule
from trackers.alerts.rehearsal import SHOWN_MOST, rehearse
from trackers.alerts.unusual import keep_rises
from trackers.happenings.models import Happening
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.scores.models import RecentRise, ScoreRise
from trackers.scores.update import update_scores
from trackers.tweets.gains.heads import HEAD_LENGTH, store_heads
from trackers.tweets.gains.models import Gain, GainHead, Window
from trackers.tweets.models import Tweet
from trackers.tweets.record import Measured, record
from trackers.tweets.tags.names import get_or_create_tag
from trackers.tweets.tags.tagging import tag_tweets
from tweetwatch.pieces import Deadline

DAY = timedelta(days=1)
FAST = {"metric": "likes", "at": 1000, "rest": 6 * HOUR}


def asked(kind, **given):
    return rehearse(AlertRule(kind=kind, **given), now=NOW)


def looked(*ago):
    """The lists were looked at, as they are, so long ago."""
    for one in ago:
        store_heads(now=NOW - one)


def told(rehearsal):
    return [(NOW - fire.at, fire.what) for fire in rehearsal.shown]


def test_without_anything_stored_the_past_is_unknown():
    assert asked("velocity", **FAST).sentence == "Cannot be told before it has run for a day."
    looked(40 * MINUTE)
    assert asked("velocity", **FAST).since is None
    assert asked("usual", metric="likes", times=3).since is None
    assert asked("milestone", metric="likes", at=10).since is None
    assert asked("credential").since is None


def test_a_fast_tweet_fires_again_when_it_was_slower_in_between():
    looked(23 * HOUR + 50 * MINUTE)
    fast = moves(tweet(1), 1500)
    moves(tweet(2), 999)
    looked(10 * HOUR, 10 * HOUR - 15 * MINUTE)
    stands_still(fast)
    looked(9 * HOUR)
    moves(fast, 2000)
    looked(5 * HOUR)
    stands_still(fast)
    looked(4 * HOUR)
    moves(fast, 1200)
    looked(HOUR)

    tried = asked("velocity", **FAST)

    assert told(tried) == [
        (HOUR, "Tweet 1 of @a7 gained 1,200 likes an hour."),
        (5 * HOUR, "Tweet 1 of @a7 gained 2,000 likes an hour."),
        (10 * HOUR, "Tweet 1 of @a7 gained 1,500 likes an hour."),
    ]
    # Five hours after the first alert it still rests.
    assert tried.sentence == (
        "Would have fired 3 times in the last day: about 2 messages a day, with its pause."
    )
    assert asked("velocity", metric="views", at=5, rest=HOUR).sentence == (
        "Would not have fired in the last day."
    )


def test_a_shorter_past_is_named_and_messages_are_counted_by_the_day():
    moves(tweet(1), 1500)
    looked(5 * HOUR + 45 * MINUTE, 3 * HOUR)

    assert asked("velocity", **{**FAST, "rest": HOUR}).sentence == (
        "Would have fired 2 times in the last 6 h: about 8 messages a day, with its pause."
    )


def test_a_full_head_makes_the_count_a_least():
    for id in range(1, HEAD_LENGTH + 2):
        tweet(id)
    Gain.objects.bulk_create(
        Gain(tweet_id=id, minutes=60, metric="likes", gain=id, velocity=1000 + id, since=NOW - HOUR,
             until=NOW, again_at=NOW)
        for id in range(1, HEAD_LENGTH + 2)
    )  # fmt: skip
    looked(DAY, HOUR)

    tried = asked("velocity", **FAST)
    assert (tried.fired, tried.is_least, len(tried.shown)) == (1000, True, SHOWN_MOST)
    assert tried.more == 980
    assert not asked("velocity", **{**FAST, "at": 1003}).is_least


def test_heads_are_stored_four_times_an_hour_and_kept_for_a_day():
    moves(tweet(1), 1500)
    for minute in range(31):
        store_heads(now=NOW + minute * MINUTE)
    assert GainHead.objects.filter(minutes=Window.HOUR, metric="likes").count() == 3
    store_heads(now=NOW + 26 * HOUR)
    [head] = GainHead.objects.filter(minutes=Window.HOUR, metric="likes")
    assert (head.ids, head.velocities) == ([1], [1500])


@pytest.mark.parametrize("about", ["author", "source", "tag", "tweet"])
def test_a_rehearsal_keeps_to_the_subject(about):
    source = Source.objects.create(kind="search", of="cats")
    tag = get_or_create_tag("launch")
    for id, author in ((1, 7), (2, 8)):
        moves(tweet(id, author=author), 2000)
    SourceTweet.objects.create(source=source, tweet_id=2, seen_at=NOW)
    tag_tweets(tag.pk, [2])
    looked(DAY, HOUR)
    of = {"author": 8, "source": source.pk, "tag": tag.pk, "tweet": 2}[about]

    [fire, _] = asked("velocity", **FAST, about=about, of=of).shown

    assert fire.url == "/tweets/2/"
    assert asked("velocity", **FAST, about=about, of=99).fired == 0


def test_milestones_come_from_happenings_and_from_the_largest_gains():
    looked(DAY)
    for id in (1, 2, 3, 4):
        tweet(id)
    for minutes, likes in ((-90, 5), (-30, 500), (-1, 2000)):
        record([Measured(1, NOW + minutes * MINUTE, figures(likes), 60 * HOUR)])
    Tweet.objects.filter(pk=2).update(likes=3000)
    for id, gain in ((1, 1995), (2, 100)):
        Gain.objects.update_or_create(
            tweet_id=id, minutes=Window.DAY, metric="likes",
            defaults={"gain": gain, "velocity": gain, "since": NOW - DAY, "until": NOW,
                      "again_at": NOW},
        )  # fmt: skip
    for id, at in ((3, 1000), (4, 100)):
        Happening.objects.create(
            what="milestone", tweet_id=id, at=NOW - HOUR,
            figures={"metric": "likes", "at": at, "value": at + 1},
        )  # fmt: skip

    tried = asked("milestone", metric="likes", at=1000, rest=DAY)

    assert told(tried) == [
        (MINUTE, "Tweet 1 of @a7 reached 1,000 likes."),
        (HOUR, "Tweet 3 of @a7 reached 1,000 likes."),
    ]


def test_a_storm_is_one_message():
    looked(DAY)
    for id in range(1, 31):
        tweet(id)
        Happening.objects.create(
            what="fell", tweet_id=id, at=NOW - (2 if id % 2 else 5) * HOUR - timedelta(seconds=id),
            figures={"metric": "likes", "before": 100, "after": 60},
        )  # fmt: skip

    tried = asked("fell", metric="likes", rest=DAY)

    assert (tried.fired, tried.messages) == (30, 2)


def test_tweets_that_one_look_at_the_lists_found_were_not_all_raised_in_one_minute():
    looked(DAY)
    for id in range(1, 31):
        moves(tweet(id), 2000)
    looked(HOUR)

    tried = asked("velocity", **FAST)

    # Thirty in fifteen minutes leave hardly a minute without one.
    assert (tried.fired, tried.messages) == (30, 13)


def test_scores_that_rose_come_from_rises_that_rules_read():
    looked(DAY)
    for id, likes in ((1, 500), (2, 20), (3, 500)):
        tweet(id, likes=likes)
    rises = [(1, 2.5, 3.5), (2, 0, 4), (3, 3.2, 5)]
    for place, (id, was, score) in enumerate(rises):
        ScoreRise.objects.create(
            at=NOW - place * HOUR, tweet_id=id, metric="likes", was=was, score=score
        )
    keep_rises(ScoreRise.objects.latest("pk").pk)
    assert not ScoreRise.objects.exists()

    tried = asked("usual", metric="likes", times=3, at=100, rest=DAY)

    assert told(tried) == [(timedelta(0), "Tweet 1 of @a7 rose to 3.5× the likes that are usual.")]
    assert asked("usual", metric="likes", times=3, at=0, rest=DAY).fired == 2


def test_a_score_that_goes_on_rising_is_one_row_for_a_day():
    tweet(1, likes=500)
    for was, score in ((0, 2.5), (2.5, 2.55), (2.55, 6)):
        rise = ScoreRise.objects.create(at=NOW, tweet_id=1, metric="likes", was=was, score=score)
        keep_rises(rise.pk)
    [kept] = RecentRise.objects.all()
    assert (kept.was, kept.score) == (0, 6)
    update_scores(now=NOW + 26 * HOUR, deadline=Deadline.after(60))
    assert not RecentRise.objects.exists()


def test_lasting_kinds_come_from_the_log_of_a_rule_like_it():
    like = rule("credential", name="keys")
    AlertRule.objects.filter(pk=like.pk).update(made_at=NOW - 2 * DAY)
    line = {"what": "It fails.", "url": "/operations/", "kind": "credential", "of": "main"}
    for hours, state in ((2, "down"), (1, "back"), (30, "down")):
        AlertNotice.objects.create(
            rule=like, at=NOW - hours * HOUR, lines=[{**line, "state": state}]
        )

    tried = asked("credential", rest=HOUR)
    assert told(tried) == [(2 * HOUR, "It fails.")]
    # One when it began, and one when it was over.
    assert tried.messages == 2
    assert asked("budget", rest=HOUR).since is None
    assert asked("trouble", rest=HOUR).fired == 0
