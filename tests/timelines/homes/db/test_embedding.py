"""What homes keep of tweets as they were first seen, and when they show it."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from tests.timelines.homes.world import (
    assert_same,
    bring,
    built,
    configure,
    deliver_all,
    follower,
    source,
    tweet,
)
from trackers import tasks
from trackers.timelines import homes
from trackers.timelines.homes import Embedded
from trackers.timelines.models import HomeSettings, TimelineEntry
from trackers.tweets.models import Author, Tweet, TweetText, TweetVersion


def home(*fields, of=("cache",)):
    """A follower who follows a source, with a home by the cache that keeps these fields."""
    origin, me = source(), follower()
    Author.objects.create(pk=7, username="ada", name="Ada")
    configure(strategy="cache", embed=list(fields))
    homes.follow(me, source_id=origin)
    built(me, *of)
    return origin, me


def edit(id, text):
    TweetText.objects.filter(pk=id).update(text=text)


def hide(id):
    """As the updater does when X shows it no longer."""
    Tweet.objects.filter(pk=id).update(gone_at="2026-11-20T00:00Z")
    TweetText.objects.filter(pk=id).delete()


def embedded(me):
    return dict(homes.home_page(me).embedded)


def stored():
    return TimelineEntry.objects.exclude(metadata=None).count()


def test_by_default_homes_store_only_ids():
    one, me = home()
    bring(one, tweet(1))
    deliver_all()

    assert homes.home_page(me).served_by == "cache"
    assert embedded(me) == {}
    assert stored() == 0


def test_a_home_keeps_the_first_seen_text():
    one, me = home("text", "author", of=("cache", "sized", "timed"))
    bring(one, tweet(1), tweet(2))
    deliver_all()
    edit(tweet(1), "other words")
    Author.objects.update(name="Countess")

    first = Embedded("words", "Ada")
    assert embedded(me) == {tweet(1): first, tweet(2): first}
    assert homes.home_since(me).embedded == embedded(me)
    assert assert_same(me) == [tweet(2), tweet(1)]
    assert {key: bool(one.page(me).embedded) for key, one in homes.strategies().items()} == {
        "read": False, "cache": True, "sized": False, "timed": False,
    }  # fmt: skip

    configure(embed=["author"])
    assert embedded(me) == {id: Embedded(author="Ada") for id in (tweet(1), tweet(2))}


def test_a_home_built_later_has_the_first_seen_text():
    one, me = home("text")
    bring(one, tweet(1))
    Tweet.objects.update(newest=tweet(1, 1))
    for version, text in ((tweet(1, 1), "other words"), (tweet(1), "words")):
        seen_at = "2026-11-03T00:00Z" if text == "words" else "2026-11-04T00:00Z"
        TweetVersion.objects.create(pk=version, tweet_id=tweet(1), seen_at=seen_at, text=text)
    edit(tweet(1), "other words")

    homes.rebuild(me)

    assert embedded(me) == {tweet(1): Embedded("words")}


@pytest.mark.parametrize("is_delivered", [True, False])
def test_no_home_shows_a_gone_tweet(is_delivered):
    one, me = home("text", "author")
    bring(one, tweet(1), tweet(2))
    if is_delivered:
        deliver_all()
    hide(tweet(1))
    deliver_all()

    kept = {tweet(2): Embedded("words", "Ada")}
    assert (homes.home_page(me).ids, embedded(me)) == ((tweet(2),), kept)
    assert homes.embedded(me, [tweet(1), tweet(2)]) == kept

    tasks.drop_idle_homes()
    assert stored() == 1
    # Back, and with another text: the one of before is gone for good.
    Tweet.objects.update(gone_at=None)
    TweetText.objects.create(pk=tweet(1), text="other words")
    assert embedded(me) == kept


def test_a_text_too_long_for_an_entry_is_read_from_the_tweet(settings):
    settings.TIMELINE_METADATA_BYTES = 60
    one, me = home("text", "author")
    bring(one, tweet(1), tweet(2))
    edit(tweet(1), "ä" * 60)
    deliver_all()

    assert embedded(me) == {
        tweet(1): Embedded(author="Ada"), tweet(2): Embedded("words", "Ada"),
    }  # fmt: skip


@pytest.mark.parametrize("metadata", [b"\xff\x00", b"[1]", b'{"text":7}'])
def test_foreign_metadata_are_not_taken_for_an_embedded_text(metadata):
    one, me = home("text")
    bring(one, tweet(1))
    deliver_all()
    TimelineEntry.objects.update(metadata=metadata)

    assert embedded(me) == {tweet(1): Embedded()}


@pytest.mark.parametrize("strategy", ["read", "timed", "sized"])
def test_only_the_cache_strategy_embeds_texts(strategy):
    with pytest.raises(ValidationError, match="Only the capped cache can embed"):
        configure(strategy=strategy, embed=["text"])
    with pytest.raises(ValidationError, match="not a valid choice"):
        configure(strategy="cache", embed=["likes"])
    for wrong in ({"strategy": strategy, "embed": ["text"]}, {"strategy": "cache", "embed": ["a"]}):
        with pytest.raises(IntegrityError, match="homesettings_embed"), transaction.atomic():
            HomeSettings.objects.create(pk=1, **wrong)
