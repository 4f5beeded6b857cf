"""Tags, names and links are stored with the text, and go with it."""

from datetime import UTC, datetime

import pytest

from tests.factories import TweetFactory, post
from trackers.tweets.describe import describe
from trackers.tweets.entities import domain_of
from trackers.tweets.models import TweetText
from trackers.tweets.versions import SeenVersion, learn
from trackers.xapi.results import Entities, Link

AT = datetime(2026, 3, 1, tzinfo=UTC)
PAGE = Link("https://t.co/a", "example.org/a", "https://www.Example.org/a?b=1", of_media=False)
PHOTO = Link("https://t.co/b", "pic.x.com/b", "https://x.com/i/status/5/photo/1", of_media=True)
QUOTED = Link("https://t.co/c", "x.com/a/…", "https://twitter.com/a/status/3?s=20", of_media=False)
OWN = Link("https://t.co/d", "x.com/i/…", "https://x.com/i/web/status/5", of_media=False)
FOUND = Entities(("moon", "sun"), ("twtr",), ("someone",), (PAGE, PHOTO, QUOTED, OWN))
POST = post(5, text="words")._replace(entities=FOUND, quoted=3)
NAMES = ("hashtags", "cashtags", "mentions", "domains")


def stored():
    text = TweetText.objects.get(tweet=5)
    return [getattr(text, name) for name in NAMES], [link["url"] for link in text.links or ()]


WHOLE = [["moon", "sun"], ["twtr"], ["someone"], ["example.org"]], [PAGE.url, PHOTO.url, QUOTED.url]


def test_entities_are_stored_without_links_to_the_post_itself():
    TweetFactory(id=5)

    describe([POST])

    assert stored() == WHOLE
    assert TweetText.objects.get().links[0] == PAGE._asdict()


def test_nothing_recognised_is_null():
    TweetFactory(id=5)
    TweetFactory(id=6)

    describe([POST._replace(entities=None), post(6)._replace(entities=Entities(links=(OWN,)))])

    assert stored() == ([None] * 4, [])


def test_a_file_with_the_same_text_does_not_remove_them():
    TweetFactory(id=5)
    describe([POST])

    describe([POST._replace(entities=None)])

    assert stored() == WHOLE


def test_another_text_has_its_own():
    TweetFactory(id=5)
    describe([POST])

    describe([POST._replace(text="other", entities=Entities(hashtags=("mars",)))])
    assert stored() == ([["mars"], None, None, None], [])

    describe([POST._replace(text="a third", entities=None)])
    assert stored() == ([None] * 4, [])


@pytest.mark.parametrize("entities", [Entities(hashtags=("mars",)), None])
def test_an_edit_replaces_them(entities):
    TweetFactory(id=5)
    describe([POST])

    edited = POST._replace(id=6, text="other", edit_history=(5, 6), entities=entities)
    learn([SeenVersion(edited, AT)])

    assert stored() == ([["mars"] if entities else None, None, None, None], [])


def test_an_edit_that_was_learnt_already_keeps_them():
    TweetFactory(id=5)
    describe([POST])
    edited = POST._replace(id=6, text="other", edit_history=(5, 6))
    learn([SeenVersion(edited, AT)])

    learn([SeenVersion(edited._replace(entities=None), AT)])

    assert stored()[0] == WHOLE[0]


@pytest.mark.parametrize(
    ("address", "domain"),
    [
        ("https://www.Example.org:8000/a", "example.org"),
        ("http://user@news.example.org", "news.example.org"),
        ("example.org/a", "example.org"),
        ("https://[::1", ""),
        ("", ""),
    ],
)
def test_a_domain_is_where_an_address_leads(address, domain):
    assert domain_of(address) == domain
