"""X takes one of its two vocabularies only: the other is used from the next request on."""

import logging

import pytest

from tests.xapi.openapi import Document
from trackers.xapi import vocabulary
from trackers.xapi.client import look_up
from trackers.xapi.endpoints import LOOKUP_BY_IDS
from trackers.xapi.errors import BadRequest, OtherVocabulary
from trackers.xapi.page import Ask
from trackers.xapi.timelines import read_page
from trackers.xapi.vocabulary import FIELDS, POSTS, TWEETS, fields_in

FIGURES = {"retweets": 7, "replies": 2, "likes": 3, "quotes": 4, "bookmarks": 5, "views": 6}


@pytest.fixture(autouse=True)
def nothing_known(fake, monkeypatch):
    """No refusal is known, and X takes both."""
    monkeypatch.setattr(vocabulary, "_refused_at", {})
    yield
    fake.tell("PUT", "world", vocabulary="both")


def statuses(fake):
    return [status for endpoint, status in fake.log() if endpoint == "GET /2/tweets"]


def a_day_later():
    """As if each refusal had come a day ago."""
    for known in vocabulary._refused_at:
        vocabulary._refused_at[known] -= vocabulary._REFUSED_FOR_SECONDS


@pytest.mark.parametrize("describes", [True, False])
def test_a_look_up_switches_once_and_reads_the_same_counts(fake, bearer, caplog, describes):
    (id,) = fake.visible_ids(1)
    fake.tell("PUT", "tweets", **{str(id): {"metrics": FIGURES}})
    fake.tell("PUT", "world", vocabulary=POSTS)

    with caplog.at_level(logging.WARNING):
        with pytest.raises(OtherVocabulary) as raised:
            look_up(bearer, [id], describes=describes, **fake.asking)
        answers = [look_up(bearer, [id], describes=describes, **fake.asking) for _ in range(2)]

    assert raised.value.window is not None, "X counted the request"
    assert not raised.value.maybe_billed
    assert statuses(fake) == [400, 200, 200]
    for answer in answers:
        assert answer.posts[id].figures == tuple(FIGURES.values())
        assert answer.posts[id].text
        assert answer.broken == {}
    assert [record.getMessage() for record in caplog.records] == [
        "X takes no tweet.fields at GET /2/tweets: it is asked for post.fields instead. The first "
        "is tried again in a day."
    ]


def test_the_vocabulary_with_all_fields_is_tried_again_after_a_day(fake, bearer):
    (id,) = fake.visible_ids(1)
    fake.tell("PUT", "world", vocabulary=POSTS)
    with pytest.raises(OtherVocabulary):
        look_up(bearer, [id], **fake.asking)
    assert look_up(bearer, [id], **fake.asking).posts[id].author_id is None

    a_day_later()
    with pytest.raises(OtherVocabulary):
        look_up(bearer, [id], **fake.asking)
    a_day_later()
    fake.tell("PUT", "world", vocabulary=TWEETS)

    assert look_up(bearer, [id], **fake.asking).posts[id].author_id


def test_a_refusal_of_both_is_raised_as_x_gives_it(fake, bearer):
    (id,) = fake.visible_ids(1)
    for refused in (POSTS, TWEETS):
        fake.tell("PUT", "world", vocabulary=refused)
        with pytest.raises(BadRequest if refused == TWEETS else OtherVocabulary) as raised:
            look_up(bearer, [id], **fake.asking)

    assert "post.fields" in str(raised.value)


def test_a_page_switches_too(fake, bearer):
    ask = Ask("search", "drum", max_results=10)
    fake.tell("PUT", "world", vocabulary=POSTS)

    with pytest.raises(OtherVocabulary):
        read_page(bearer, ask, **fake.asking)

    assert read_page(bearer, ask, **fake.asking).broken == {}


def test_fields_without_a_name_have_none_in_the_document():
    names = Document("2.167").names(LOOKUP_BY_IDS["v2"], POSTS)

    assert {field.tweets for field in FIELDS if field.posts is None}.isdisjoint(names)
    assert {*fields_in(POSTS)} <= names
