"""Yesterday against the day before, on the overview."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache
from django.utils.timezone import now

from tests.pages.conftest import flat
from tests.pages.sources import some_staff, source, words
from tests.scores.posts import checkpoint, post
from trackers.ingest.sources.models import SourceTweet
from trackers.rollups.recount import quarter_at, recount
from trackers.sets.leaderboards import asked
from trackers.tweets.checkpoints.ages import AGES

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
AN_HOUR = AGES.index(HOUR) + 1


@pytest.fixture(autouse=True)
def fresh_cache():
    cache.clear()


@pytest.fixture
def posts():
    """Of a search, three posts yesterday and two on the day before, with 400 and 200 views after an
    hour; of nothing else, one yesterday."""
    midnight = datetime.combine(now().date(), datetime.min.time(), UTC)
    moon = source("search", "#moon")
    made = []
    for number, (days, views) in enumerate(((1, 400), (1, 400), (1, 400), (2, 200), (2, 200))):
        at = midnight - days * DAY + 5 * HOUR + number * timedelta(minutes=1)
        tweet = post(7, posted=now() - at, now=now(), views=views)
        SourceTweet.objects.create(source=moon, tweet_id=tweet.pk, seen_at=at)
        checkpoint(tweet, AN_HOUR, views=views)
        made.append(tweet)
    made.append(post(8, posted=now() - midnight + 4 * HOUR, now=now(), views=1))
    recount({quarter_at(tweet.created_at) for tweet in made}, now=now())
    return made


def test_posts_and_views_of_yesterday_are_compared_by_source(staff, posts):
    said = words(flat(staff.get("/")))

    told = said.partition("Yesterday against the day before")[2].partition("All, with medians")[0]
    assert "All 4 +100 % 1.2K +200 %" in told
    assert "#moon 3 +50 % 1.2K +200 %" in told


def test_authors_are_listed_for_a_person_without_sources(client, posts):
    viewer = some_staff(client, "view_tweet")

    said = words(flat(viewer.get("/?part=yesterday")))

    assert "Author Posts Views after 1 h" in said
    assert "#moon" not in said


def test_more_posts_than_are_counted_at_once_lead_to_the_hourly_list(staff, posts, monkeypatch):
    monkeypatch.setattr(asked, "MAX_POSTS", 3)

    content = flat(staff.get("/?part=yesterday"))

    assert "more posts than are counted at once" in content
    assert "/leaderboards/?of=source&amp;period=24h" in content


def test_a_day_without_posts_says_so(staff):
    assert "No tracked tweet was posted yesterday" in flat(staff.get("/?part=yesterday"))


def test_yesterday_is_counted_once_in_ten_minutes(staff, posts, django_assert_max_num_queries):
    staff.get("/?part=yesterday")

    with django_assert_max_num_queries(9):
        staff.get("/?part=yesterday")
