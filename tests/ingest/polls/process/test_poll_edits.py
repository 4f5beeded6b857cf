"""Edited posts in a source: under whichever id X shows one, it is the tweet that was tracked."""

import pytest
from django.utils import timezone

from tests import queues
from tests.ingest.polls.steps import accounts, add, billed, poll, release, spent, visible
from trackers import tasks
from trackers.ingest.sources.models import SourceTweet
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.tweets.models import Tweet, TweetText, TweetVersion
from trackers.updater.models import TweetUpdate

pytestmark = pytest.mark.django_db(transaction=True)


def edit(x, id, text):
    return int(x.tell("POST", f"edits/{id}", {"text": text})["id"])


def look():
    queues.set_due(TweetUpdate, timezone.now())
    tasks.update_tweets(queue.get(TWEET_UPDATE, 100))


@pytest.mark.parametrize("shows", ["newest", "own"])
def test_an_edited_post_stays_one_tweet_with_one_history(x, shows):
    x.put("world", {"old_versions": shows})
    [(author, _)] = accounts(x, 1)
    x.put("lists/55", {"members": [author]})
    source = add("list", "55")
    release(x, authors=[author], count=3, retweets=0)
    poll(source)
    first = max(visible(x, list=55))
    tracked = set(Tweet.objects.values_list("id", flat=True))

    second = edit(x, first, "second thoughts")
    x.put(f"tweets/{second}", {"metrics": {"likes": 77}})
    poll(source)

    assert set(Tweet.objects.values_list("id", flat=True)) == tracked
    assert set(TweetUpdate.objects.values_list("key", flat=True)) <= tracked
    assert set(SourceTweet.objects.values_list("tweet_id", flat=True)) == tracked
    tweet = Tweet.objects.get(id=first)
    assert (tweet.newest, tweet.likes, tweet.measurements) == (second, 77, 1)
    assert TweetText.objects.get(tweet=first).text == "second thoughts"
    assert spent() == billed(x)

    poll(source)
    look()
    assert Tweet.objects.get(id=first).measurements == 3
    assert spent() == billed(x), "nothing is counted twice, nor too little"


def test_a_post_edited_before_tracking_is_tracked_by_its_shown_version(x):
    [(author, username)] = accounts(x, 1)
    release(x, authors=[author], count=1, retweets=0)
    first = max(visible(x, author=author))
    second = edit(x, first, "second thoughts")

    poll(add("account", username))

    assert Tweet.objects.filter(id=second, newest=second).exists()
    assert not Tweet.objects.filter(id=first).exists()
    assert list(TweetVersion.objects.order_by("id").values_list("id", "text")) == [
        (first, None), (second, "second thoughts"),
    ]  # fmt: skip
    assert TweetText.objects.get(tweet=second).text == "second thoughts"
