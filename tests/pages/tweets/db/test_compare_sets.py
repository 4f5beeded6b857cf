"""The page that compares sets: figures, by day, and by age; and each chart as a file."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.pages.sources import some_staff, words
from tests.scores.posts import checkpoint, post
from trackers.saved_views.models import SavedView
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.models import Author, TweetText

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
BOTH = "/compare/sets/?set=author%2F7&set=hashtag%2Fmoon"


@pytest.fixture
def two_sets():
    """Six posts of an author, half of them with a hashtag."""
    for number in range(6):
        tweet = post(7, posted=(30 + number) * HOUR, now=datetime.now(UTC))
        for place, age in enumerate(AGES, 1):
            if age <= DAY:
                checkpoint(tweet, place, views=100 * place)
        if number % 2:
            TweetText.objects.filter(pk=tweet.pk).update(hashtags=["moon"])
    Author.objects.filter(pk=7).update(username="vera")


def said(staff, address):
    answer = staff.get(address)
    assert answer.status_code == 200
    return words(answer.content.decode())


def test_sets_stand_beside_each_other(staff, two_sets):
    text = said(staff, BOTH)

    assert "@vera 6 +6 1.3K 7.8K" in text
    assert "#moon 3 +3 1.3K 3.9K" in text
    html = staff.get(BOTH).content.decode()
    assert 'href="/sets/author/7/?"' in html
    assert 'href="?set=hashtag%2Fmoon"' in html
    assert html.count("Median views by age") >= 2


def test_a_set_is_added_as_people_call_it(staff, two_sets):
    text = said(staff, "/compare/sets/?set=hashtag%2Fmoon&kind=author&key=vera&period=30d")
    assert "@vera 6" in text
    assert 'name="set" value="author/7"' in staff.get(BOTH).content.decode()
    assert "There is no set author otto" in said(staff, f"{BOTH}&kind=author&key=otto")


def test_a_set_that_cannot_be_compared_says_why(staff, client, django_user_model, two_sets):
    assert "Nothing to compare yet" in said(staff, "/compare/sets/")
    assert "nothing to compare this set with" in said(staff, "/compare/sets/?set=author/7")
    assert said(staff, f"{BOTH}&set=author/7").count("@vera") == said(staff, BOTH).count("@vera")
    many = "&".join(f"set=hashtag/h{number}" for number in range(7))
    assert "At most 6 sets" in said(staff, f"/compare/sets/?{many}")
    view = SavedView.objects.create(user=django_user_model.objects.get(), name="Mine", query="")
    assert "Mine" in said(staff, f"/compare/sets/?set=view/{view.pk}&set=all/all")
    bob = some_staff(client, "view_tweet")
    assert "There is no set view" in said(bob, f"/compare/sets/?set=view/{view.pk}&set=all/all")


@pytest.mark.parametrize("chart", ["age", "day"])
def test_each_chart_is_a_picture_and_a_table(staff, two_sets, chart):
    html = staff.get(BOTH).content.decode()
    query = BOTH.partition("?")[2]
    for form in ("svg", "png", "csv"):
        assert staff.get(f"/compare/sets/{chart}.{form}?{query}").status_code == 200
        assert f'href="/compare/sets/{chart}.{form}?{query.replace("&", "&amp;")}"' in html
    answer = staff.get(f"/compare/sets/{chart}.csv?{query}")
    rows = b"".join(answer.streaming_content).decode().splitlines()
    if chart == "age":
        assert rows[:2] == ["set,age_minutes,median_views", "'@vera,5.0,100.0"]
        # Of three posts there is no median by age.
        assert {row.partition(",")[0] for row in rows[1:]} == {"'@vera"}
    else:
        assert rows[0] == "set,since,posts,views_at_24h"
        assert len(rows) == 1 + 2 * 7
    assert staff.get(f"/compare/sets/other.svg?{query}").status_code == 404
