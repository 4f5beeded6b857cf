"""What X tells of a post besides its counts: the whole text, media, where it is withheld."""

from datetime import timedelta

import pytest

from tests.updater.process.test_refresh import refresh, shown_of, turn_clock, x
from trackers.credentials.models import Credential
from trackers.ingest.files.lines import FoundTweet
from trackers.ingest.track import track
from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.tweets.finding.direction import Direction
from trackers.tweets.finding.finder import Finder
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import Tweet, TweetText
from trackers.xapi import vocabulary
from trackers.xapi.vocabulary import POSTS, TWEETS, fields_in
from tweetwatch.time_limits import limit_time

__all__ = ["x"]

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
LONG = "all that was said at length " * 20 + "and its last word is quixotic"
WITHHELD = {"copyright": True, "country_codes": ["FR", "DE"], "scope": "tweet"}


def look():
    turn_clock(DAY)
    refresh()


def watch(*ids):
    list(track([FoundTweet(id) for id in ids], came_from="a test"))
    look()


def test_a_long_text_is_stored_and_found_whole(x):
    [id] = shown_of(x, 1)
    x.put(f"contents/{id}", {"text": LONG})

    watch(id)

    assert TweetText.objects.get().text == LONG
    with limit_time(timedelta(seconds=10)) as deadline:
        assert Finder(deadline, 10).find("quixotic", Direction()).ids == [id]


def test_media_and_references_are_stored(x):
    x.tell("POST", "posts", {"rate": 100_000, "count": 300, "replies": 0.4, "quotes": 0.4,
                             "retweets": 0, "lag": {"usual_ms": 0, "late_share": 0,
                                                    "very_late_share": 0}})  # fmt: skip
    posts = x.get("visible?limit=300")["posts"]
    ids = {
        kind: next(int(one["id"]) for one in posts[::-1] if one["kind"] == kind)
        for kind in ("reply", "quote")
    }
    x.put(f"contents/{ids['reply']}", {"media_keys": ["3_71", "7_72"]})

    watch(*ids.values())

    reply, quote = (TweetText.objects.get(tweet=ids[kind]) for kind in ("reply", "quote"))
    known = {int(one["id"]) for one in posts}
    assert reply.replied_to in known
    assert reply.conversation_id == reply.replied_to
    assert (quote.quoted in known, quote.conversation_id) == (True, ids["quote"])
    assert reply.media_keys == ["3_71", "7_72"]
    assert (reply.quoted, quote.replied_to, quote.media_keys) == (None, None, None)


@pytest.mark.parametrize("api", ["v2", "v1.1"])
def test_tags_links_and_the_kind_are_stored(x, api):
    Credential.objects.update(api=api)
    id, other = shown_of(x, 2)
    text = "see https://www.example.org/a of #Moon and $TWTR"
    x.put(f"contents/{id}", {"text": text, "media_keys": ["7_71"]})
    x.put(f"contents/{other}", {"text": "plain words"})

    watch(id, other)

    linked, plain = (TweetText.objects.get(tweet=one) for one in (id, other))
    found = (linked.hashtags, linked.cashtags, linked.domains, linked.mentions)
    assert found == (["moon"], ["twtr"], ["example.org"], None)
    assert [link["of_media"] for link in linked.links] == [False, True]
    assert all(link["url"] in linked.text for link in linked.links)
    assert (linked.media_keys, linked.kind) == (["7_71"], PostKind.VIDEO)
    assert (plain.links, plain.hashtags, plain.kind) == (None, None, PostKind.TEXT)


@pytest.mark.parametrize("api", ["v2", "v1.1"])
def test_countries_withholding_a_post_are_kept_up_to_date(x, api):
    Credential.objects.update(api=api)
    id, other = shown_of(x, 2)
    x.put(f"contents/{id}", {"withheld": WITHHELD})
    watch(id, other)
    assert dict(Tweet.objects.values_list("id", "withheld")) == {id: "DE FR copyright", other: ""}

    x.put(f"contents/{id}", {"withheld": None})
    x.put(f"contents/{other}", {"withheld": {**WITHHELD, "copyright": False}})
    look()

    assert dict(Tweet.objects.values_list("id", "withheld")) == {id: "", other: "DE FR"}


def test_unchanging_fields_are_requested_until_known(x):
    known, new = shown_of(x, 2)

    watch(known)
    look()
    watch(new)

    asked = [set(entry["fields"]) for entry in x.log()]
    all, changing = (set(fields_in(TWEETS, describes=describes)) for describes in (True, False))
    assert asked == [all, changing, all]
    assert changing < all


def test_tweets_are_measured_while_x_takes_its_newer_vocabulary_alone(x, monkeypatch):
    monkeypatch.setattr(vocabulary, "_refused_at", {})
    [id] = shown_of(x, 1)
    x.put("world", {"vocabulary": POSTS})

    try:
        watch(id)
        look()
        look()
    finally:
        x.put("world", {"vocabulary": "both"})

    assert [entry["status"] for entry in x.log()] == [400, 200, 200]
    tweet = Tweet.objects.get()
    assert tweet.likes is not None
    assert tweet.created_at, "all that the newer one has without an expansion is asked for"
    assert TweetText.objects.get().text
    assert Queue.objects.get(name=TWEET_UPDATE).held_until is None
