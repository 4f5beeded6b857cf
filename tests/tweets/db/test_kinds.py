"""What kind of post a tweet is: the same in Python and in SQL, and stored in every way in."""

from datetime import UTC, datetime
from importlib import import_module

import pytest
from django.db import connection

from tests.factories import TweetFactory, post
from trackers.tweets.describe import describe
from trackers.tweets.kinds import PostKind, kind_of_post
from trackers.tweets.models import TweetText
from trackers.tweets.versions import SeenVersion, learn

AT = datetime(2026, 3, 1, tzinfo=UTC)
POST = post(5, text="words")
LINKED = POST._replace(text="words https://t.co/abc")
PHOTO, VIDEO = ("3_71",), ("3_71", "7_72")
CASES = [
    (POST, PostKind.TEXT),
    (POST._replace(text=""), PostKind.TEXT),
    (POST._replace(text="http without a link"), PostKind.TEXT),
    (LINKED, PostKind.LINK),
    (POST._replace(text="HTTP://EXAMPLE.ORG"), PostKind.LINK),
    (LINKED._replace(media_keys=PHOTO), PostKind.PHOTO),
    (POST._replace(media_keys=("17_3", "13_3")), PostKind.VIDEO),
    (POST._replace(media_keys=("16_3",)), PostKind.VIDEO),
    (LINKED._replace(media_keys=VIDEO), PostKind.VIDEO),
    (LINKED._replace(media_keys=("17_3",)), PostKind.LINK),
    (LINKED._replace(media_keys=VIDEO, quoted=3), PostKind.QUOTE),
    (LINKED._replace(media_keys=VIDEO, quoted=3, replied_to=4), PostKind.REPLY),
    (POST._replace(conversation_id=5), PostKind.TEXT),
    (POST._replace(conversation_id=4), PostKind.REPLY),
    (POST._replace(conversation_id=4, edit_history=(4, 5)), PostKind.TEXT),
    (POST._replace(conversation_id=4, edit_history=()), PostKind.REPLY),
    (POST._replace(retweeted=3, replied_to=4, quoted=3, media_keys=VIDEO), None),
    (POST._replace(text="RT @someone: words"), None),
    (POST._replace(text="RT and words"), PostKind.TEXT),
]


@pytest.mark.parametrize(("example", "kind"), CASES)
def test_the_first_kind_that_fits_is_stored(example, kind):
    TweetFactory(id=5)

    describe([example])

    assert kind_of_post(example) == kind
    assert TweetText.objects.get().kind == kind


def test_a_quote_stays_one_where_a_vocabulary_is_without_it():
    TweetFactory(id=5)
    describe([POST._replace(quoted=3)])

    describe([LINKED])

    assert TweetText.objects.get().kind == PostKind.QUOTE


def test_an_edit_changes_the_kind():
    TweetFactory(id=5)
    describe([POST])

    learn([SeenVersion(LINKED._replace(id=6, edit_history=(5, 6)), AT)])

    assert TweetText.objects.get().kind == PostKind.LINK


def test_stored_posts_get_their_kind_and_keep_it():
    for id in (5, 6, 7):
        TweetFactory(id=id)
    describe([POST, LINKED._replace(id=6, replied_to=5), POST._replace(id=7, retweeted=3)])
    TweetText.objects.update(kind=None)

    fill = import_module("trackers.migrations.0026_filled").fill
    for _ in "twice":
        with connection.schema_editor() as editor:
            fill(None, editor)

        kinds = dict(TweetText.objects.values_list("tweet_id", "kind"))
        assert kinds == {5: PostKind.TEXT, 6: PostKind.REPLY, 7: None}
