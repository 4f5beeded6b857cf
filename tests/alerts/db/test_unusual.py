"""Rules about what does far better than usual: scores that rose, and tweets with their own rule."""

from datetime import timedelta

import pytest

from tests.alerts.conftest import HOUR, MINUTE, NOW, minute, rule
from tests.scores.posts import post, usual_posts
from trackers.alerts import notice
from trackers.alerts.velocity import tweet_finding
from trackers.channels.models import Channel, ChannelMessage
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.outbox.findings import News
from trackers.scores.benchmarks import make_benchmarks
from trackers.scores.models import Score, ScoreRise
from trackers.scores.update import score_tweets, update_scores
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.models import Author, Sample, Tweet
from tweetwatch.pieces import Deadline

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def usual():
    """100 likes are usual for author 7 at each age."""
    Author.objects.create(id=7, username="a7")
    for place in range(1, len(AGES) + 1):
        usual_posts(7, 12, place=place, likes=100, first=(40 + place) * DAY)
    make_benchmarks([7], now=NOW)


def scored(likes, *, posted=HOUR, author=7, at=NOW):
    """A tweet posted so long ago, measured and scored now."""
    tweet = post(author, posted=posted, likes=likes)
    score_tweets([tweet.pk], now=at)
    return tweet


def measure(tweet, likes, *, at=NOW):
    Tweet.objects.filter(pk=tweet.pk).update(likes=likes)
    score_tweets([tweet.pk], now=at)


def test_a_score_that_rises_to_three_alerts_once_and_names_what_is_usual():
    tweet = scored(330)
    rule("usual", metric="likes", times=3)

    [(state, what)] = minute()

    assert state == "down"
    assert what == (
        f"Tweet {tweet.pk} of @a7 has 330 likes after 1 h, 3.3× what is usual: 100, by the "
        "author's last 12 text posts."
    )
    assert not ScoreRise.objects.exists()
    assert minute(1) == []


@pytest.mark.parametrize(
    ("likes", "given"),
    [(290, {}), (330, {"times": 4}), (330, {"at": 331}), (330, {"about": "author", "of": 8}),
     (330, {"metric": "views"})],
)  # fmt: skip
def test_less_than_a_rule_asks_for_does_not_alert(likes, given):
    scored(likes)
    rule("usual", **{"metric": "likes", "times": 3, **given})

    assert minute() == []


def test_an_author_without_a_benchmark_does_not_alert():
    scored(10_000, author=8)
    rule("usual", metric="likes", times=2)

    assert minute() == []


def test_each_tweet_that_rises_is_seen_however_many_there_are():
    made = [post(7, posted=HOUR + n * timedelta(seconds=7), likes=250) for n in range(90)]
    score_tweets([tweet.pk for tweet in made], now=NOW)
    rule("usual", metric="likes", times=2)

    assert len(minute()) == 90


def test_only_the_step_past_the_number_alerts():
    tweet = scored(210)
    rule("usual", metric="likes", times=3)
    assert minute() == []

    measure(tweet, 290)
    assert minute(1) == []
    measure(tweet, 310)
    assert len(minute(2)) == 1
    measure(tweet, 900)
    assert minute(3) == []


def test_a_second_wave_on_the_fourth_day_alerts():
    tweet = scored(100, posted=4 * DAY)
    rule("usual", metric="likes", times=3)
    assert minute() == []

    measure(tweet, 500)

    assert len(minute(1)) == 1


def test_an_old_tweet_that_is_first_compared_now_does_not_alert():
    scored(10_000, posted=2 * DAY)
    rule("usual", metric="likes", times=3)

    assert minute() == []
    assert Score.objects.count() == 1


def test_a_tweet_that_fell_back_alerts_again_only_after_the_rest():
    tweet = scored(330)
    rule("usual", metric="likes", times=3, rest=HOUR)
    assert len(minute()) == 1

    measure(tweet, 200)
    measure(tweet, 400)
    assert minute(4) == []
    measure(tweet, 200)
    measure(tweet, 400)
    assert len(minute(65)) == 1


def test_a_rule_about_one_tweet_sees_it_whatever_its_age_and_until_it_falls_back():
    tweet = scored(10_000, posted=20 * DAY)
    mine = rule("usual", metric="likes", times=3, about="tweet", of=tweet.pk)

    [(_, what)] = minute()
    assert what.startswith(
        f"Tweet {tweet.pk} of @a7 has 10,000 likes after 20 d, 100× what is usual"
    )
    assert minute(1) == []
    Tweet.objects.filter(pk=tweet.pk).update(likes=100)
    assert minute(2) == []
    Tweet.objects.filter(pk=tweet.pk).update(likes=1000)
    assert minute(3) == []
    assert len(minute(70)) == 1
    assert mine.rest == HOUR


def test_rules_about_an_author_or_a_source_see_theirs():
    source = Source.objects.create(kind="search", of="cats")
    theirs, other = scored(330), scored(340, posted=2 * HOUR)
    SourceTweet.objects.create(source=source, tweet_id=theirs.pk, seen_at=NOW)
    rule("usual", metric="likes", times=2, about="author", of=7, name="author")
    rule("usual", metric="likes", times=2, about="source", of=source.pk, name="source")

    told = [what.split()[1] for _, what in minute()]

    assert sorted(told) == sorted([str(theirs.pk), str(theirs.pk), str(other.pk)])


def test_a_tweet_that_vanished_since_does_not_alert():
    tweet = scored(330)
    Tweet.objects.filter(pk=tweet.pk).update(gone_at=NOW)
    rule("usual", metric="likes", times=3)

    assert minute() == []


def test_rises_that_no_rule_reads_are_deleted_after_an_hour():
    scored(330)

    update_scores(now=NOW + HOUR - MINUTE, deadline=Deadline.after(60))
    assert ScoreRise.objects.count() == 1
    update_scores(now=NOW + HOUR + MINUTE, deadline=Deadline.after(60))
    assert ScoreRise.objects.count() == 0


def test_a_message_to_a_channel_says_what_is_usual_where_the_rule_does_not():
    chat = Channel.objects.create(name="ops", kind="slack", address={"url": "https://a.example"})
    tweet = scored(330)
    milestone = rule("milestone", metric="likes", at=300)
    milestone.channels.add(chat)

    notice.add_notice(
        milestone, [News(tweet_finding(milestone, tweet.pk, "It has 330."), "down")], now=NOW
    )

    [message] = ChannelMessage.objects.all()
    assert message.lines == [
        {
            "what": "It has 330. It has 330 likes, 3.3× what is usual at its age.",
            "url": f"/tweets/{tweet.pk}/",
            "rule": "milestone",
            "is_over": False,
        }
    ]
    assert message.title == "milestone"


def test_a_message_has_the_curve_of_each_tweet_as_text():
    chat = Channel.objects.create(name="ops", kind="slack", address={"url": "https://a.example"})
    tweets = [scored(330), scored(340, posted=2 * HOUR)]
    for minutes, likes in ((40, 100), (30, 120), (20, 200)):
        at = NOW - minutes * MINUTE
        Sample.objects.create(
            tweet_id=tweets[0].pk, taken_at=at, measured_until=at, measurements=1, likes=likes
        )
    unusual = rule("usual", metric="likes", times=3)
    unusual.channels.add(chat)
    news = [News(tweet_finding(unusual, one.pk, "It rises."), "down") for one in tweets]

    notice.add_notice(unusual, news, now=NOW)

    # The rule says itself what is usual; of the second tweet there is one measurement.
    [message] = ChannelMessage.objects.all()
    assert [line["what"] for line in message.lines] == ["It rises. ▁▁▁▁▁▁▄▄▄▄▄█", "It rises."]
