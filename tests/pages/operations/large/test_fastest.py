"""The page of what grows fastest, which has more room than the overview."""

import re
from datetime import timedelta

import pytest
from django.utils.timezone import now

from tests.factories import TweetFactory, id_born
from tests.pages.conftest import measure, watched
from tests.pages.operations.large.test_overview import order, words
from trackers.tweets.gains.models import Gain

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def test_the_page_of_the_fastest_shows_age_and_curve_and_can_be_narrowed(staff):
    recent, old = watched(1), watched(2, author_id=8)
    for likes, at in ((1, 60), (5, 120), (9, 180)):
        measure(recent, at, likes=likes, views=10 * likes)
    long_ago = TweetFactory(id=id_born(now() - timedelta(days=9)), author_id=7)
    for tweet, gain in ((recent, 5), (long_ago, 50), (old, 4)):
        Gain.objects.create(
            tweet=tweet, metric="likes", minutes=60, gain=gain, velocity=gain,
            since=now() - HOUR, until=now(), again_at=now() + HOUR,
        )  # fmt: skip

    page = staff.get("/fastest/?metric=likes")
    narrowed = staff.get("/fastest/?metric=likes&age=7d")

    assert order(page) == [long_ago.pk, recent.pk, old.pk]
    assert "Likes from 1 to 9 in 2 min" in words_and_labels(page)
    assert "· 10 min ago" in words(page)
    assert order(narrowed) == [recent.pk, old.pk]
    assert "age=7d#fastest" in narrowed.content.decode()
    assert 'href="/tweets/?sort=gain-likes-60&amp;age=7d"' in narrowed.content.decode()
    # The overview has no room for it, and lists all.
    assert order(staff.get("/?metric=likes&age=7d")) == [long_ago.pk, recent.pk, old.pk]


def words_and_labels(page):
    return " ".join(re.findall(r'aria-label="([^"]*)"', page.content.decode()))
