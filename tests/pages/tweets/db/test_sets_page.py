"""The page of a set: figures beside those of the period before, and each chart as a file."""

from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest

from tests.pages.sources import some_staff, source, words
from tests.scores.posts import checkpoint, post
from trackers.history import on_page
from trackers.notes import acts as notes
from trackers.saved_views.models import SavedView
from trackers.sets import period_figures
from trackers.sets.charts import SET_CHARTS
from trackers.tokens.models import TimeFormat
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.models import Author, TweetText
from trackers.tweets.tags import tagging
from trackers.tweets.tags.names import get_or_create_tag

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
AN_HOUR, A_DAY = AGES.index(HOUR) + 1, AGES.index(DAY) + 1


def posted(age, views=None, *, author=7, place=A_DAY, **counts):
    tweet = post(author, posted=age, now=datetime.now(UTC))
    TweetText.objects.filter(pk=tweet.pk).update(lang="en")
    if views is not None:
        zero = dict.fromkeys(("retweets", "replies", "likes", "quotes", "bookmarks"), 0)
        checkpoint(tweet, place, **{**zero, "views": views, **counts})
    return tweet


def said(staff, address):
    answer = staff.get(address)
    assert answer.status_code == 200
    return words(answer.content.decode())


@pytest.fixture
def two_weeks():
    """Five posts of this week that are a day old and one that is not, and four of the last week."""
    posted(HOUR)
    for number in range(5):
        posted(30 * HOUR + number * HOUR, 1000 * (number + 1), likes=20)
    for number in range(4):
        posted(7 * DAY + 30 * HOUR + number * HOUR, 2000)


def test_a_period_stands_beside_the_one_before(staff, two_weeks):
    text = said(staff, "/sets/author/7/")

    assert "Posts ? 6 +2, 50 % before: 4" in text
    assert "Views, median at 24 h ? 3K +50 % before: 2K" in text
    assert "Views, all at 24 h ? 15K +88 % before: 8K" in text
    assert "Engagement rate ? 0.7 % +0.7 points before: 0.0 %" in text
    assert "Of 6 posts, 5 are 24 hours old; the others count as posts" in text
    assert "the 7 days before, the same weekdays" in text


def test_another_metric_and_age_may_be_chosen(staff, two_weeks):
    posted(2 * HOUR, 70, place=AN_HOUR, likes=7)

    text = said(staff, "/sets/all/all/?period=24h&metric=likes")

    assert "Likes, median at 1 h ? 7" in text
    assert "Likes, median at 24 h" in said(staff, "/sets/all/all/?period=24h&metric=likes&age=24h")


def test_a_period_follows_the_clock_of_its_reader(staff, django_user_model):
    TimeFormat.objects.create(user=django_user_model.objects.get(), zone="Asia/Kathmandu")

    text = said(staff, "/sets/all/all/")

    assert "No posts in this period" in text
    posted(30 * HOUR, 5)
    assert "UTC+5:45" in said(staff, "/sets/all/all/")


def test_days_of_ones_choice_are_shown_and_wrong_ones_say_why(staff, two_weeks):
    day = (datetime.now(UTC) - 9 * DAY).date()
    text = said(staff, f"/sets/author/7/?from={day}&until={day + 3 * DAY}")
    assert "Posts ? 4" in text

    text = said(staff, f"/sets/author/7/?from={day}&until={day - DAY}")
    assert "The period ends before it begins." in text
    assert "Posts ? 6" in text
    assert "its first and its last day" in said(staff, "/sets/author/7/?from=yesterday")
    assert "Posts ? 6" in said(staff, "/sets/author/7/?period=9y&age=1s&metric=x")


def test_more_posts_than_are_read_say_so(staff, two_weeks, monkeypatch):
    monkeypatch.setattr(period_figures, "MAX_POSTS", 5)
    text = said(staff, "/sets/author/7/")
    assert "These are the newest 5, since" in text
    assert "before:" not in text


def test_best_and_worst_lead_to_their_posts(staff, two_weeks):
    hit = posted(31 * HOUR + HOUR / 2, 90_000)
    TweetText.objects.filter(pk=hit.pk).update(text="A <b>success</b>")

    html = staff.get("/sets/author/7/").content.decode()

    assert f'href="/tweets/{hit.pk}/" dir="auto">A &lt;b&gt;success&lt;/b&gt;</a>' in html


@pytest.mark.parametrize("chart", SET_CHARTS)
def test_each_chart_is_a_picture_and_a_table(staff, two_weeks, chart):
    html = staff.get("/sets/all/all/?period=30d").content.decode()
    for form, kind in (("svg", "image/svg+xml"), ("png", "image/png"), ("csv", "text/csv")):
        address = f"/sets/all/all/{chart}.{form}?period=30d"
        answer = staff.get(address)
        assert answer.status_code == 200
        assert answer["Content-Type"].startswith(kind)
        assert f'href="{address}"' in html
    picture = staff.get(f"/sets/all/all/{chart}.svg?width=360&scheme=auto").content
    assert ElementTree.fromstring(picture).get("width") == "360"


def test_the_table_of_days_has_what_the_chart_shows(staff, two_weeks):
    answer = staff.get("/sets/author/7/posts.csv")
    header, *rows = b"".join(answer.streaming_content).decode().splitlines()

    assert header == "since,until,posts,views_at_24h,since_before,posts_before,views_before"
    assert len(rows) == 7
    assert sum(int(row.split(",")[2]) for row in rows) == 6
    assert sum(int(row.split(",")[3] or 0) for row in rows) == 15_000


def test_a_chart_of_another_name_is_404(staff):
    assert staff.get("/sets/all/all/nothing.svg").status_code == 404
    assert staff.get("/sets/all/all/posts.gif").status_code == 404


def test_a_set_is_found_by_name_and_has_one_address(staff, two_weeks):
    Author.objects.filter(pk=7).update(username="vera")
    tag = get_or_create_tag("launch 1")
    for typed, there in (
        ("author/@Vera", "author/7"),
        ("tag/%23launch%201", f"tag/{tag.pk}"),
        ("hashtag/%23Moon", "hashtag/moon"),
        ("domain/www.example.org", "domain/example.org"),
        ("language/DE", "language/de"),
    ):
        answer = staff.get(f"/sets/{typed}/?period=30d")
        assert (answer.status_code, answer["Location"]) == (302, f"/sets/{there}/?period=30d")
        assert staff.get(f"/sets/{there}/").status_code == 200
    for nowhere in ("author/@otto", "author/8", "tag/%23none", "some/thing", "all/of", "view/1"):
        assert staff.get(f"/sets/{nowhere}/").status_code == 404


def test_a_view_is_its_owners_and_has_its_matches(staff, client, django_user_model, two_weeks):
    me = django_user_model.objects.get()
    query = "min_views=9&sort=likes"
    view = SavedView.objects.create(user=me, name="Seen", query=query)
    tweet = posted(30 * HOUR, 5, author=8)
    type(tweet).objects.filter(pk=tweet.pk).update(views=9)

    text = said(staff, f"/sets/view/{view.pk}/")

    assert "A saved view's set is its newest 3,000 matches." in text
    assert "Posts ? 1" in text
    assert f'href="/tweets/?{query.replace("&", "&amp;")}"' in (
        staff.get(f"/sets/view/{view.pk}/").content.decode()
    )
    bob = some_staff(client, "view_tweet")
    assert bob.get(f"/sets/view/{view.pk}/").status_code == 404
    assert bob.get(f"/sets/view/{view.pk}/posts.csv").status_code == 404


def test_a_source_takes_the_permission_of_sources(client, staff, two_weeks):
    made = source("account", "ada")
    assert staff.get(f"/sets/source/{made.pk}/").status_code == 200
    bob = some_staff(client, "view_tweet")
    for address in (f"/sets/source/{made.pk}/", f"/sets/source/{made.pk}/posts.svg"):
        assert bob.get(address).status_code == 403
    assert bob.get("/sets/all/all/").status_code == 200


def test_notes_on_a_set_are_listed_and_drawn(staff, django_user_model, two_weeks):
    me = on_page(django_user_model.objects.get())
    notes.add("hashtag", "moon", "The landing.", me, at=datetime.now(UTC) - 2 * DAY)
    tweet = posted(30 * HOUR, 5)
    TweetText.objects.filter(pk=tweet.pk).update(hashtags=["moon"])

    html = staff.get("/sets/hashtag/moon/").content.decode()

    assert html.count("Note: The landing.") == 4
    assert '<input type="hidden" name="key" value="moon">' in html
    assert 'href="/sets/hashtag/moon/#notes"' in staff.get("/notes/").content.decode()
    assert "Note: The landing." in staff.get("/sets/hashtag/moon/posts.svg").content.decode()
    bob_sees = staff.get("/sets/hashtag/other/").content.decode()
    assert "The landing." not in bob_sees


@pytest.mark.parametrize(
    ("query", "there"),
    [
        ("", "/sets/all/all/"),
        ("hashtag=Moon", "/sets/hashtag/moon/"),
        ("domain=example.org", "/sets/domain/example.org/"),
        ("tag=launch", "/sets/tag/%23launch/"),
        ("author=@vera", "/sets/author/@vera/"),
        ("author=7", "/sets/author/7/"),
        ("lang=en", "/sets/language/en/"),
    ],
)
def test_a_list_leads_to_the_figures_of_its_set(staff, query, there):
    tweet = posted(30 * HOUR, 5)
    Author.objects.filter(pk=7).update(username="vera")
    TweetText.objects.filter(pk=tweet.pk).update(
        hashtags=["moon"], domains=["example.org"], lang="en"
    )
    tagging.tag_tweets(get_or_create_tag("launch").pk, [tweet.pk])

    assert f'id="list-figures" href="{there}"' in staff.get(f"/tweets/?{query}").content.decode()


def test_pages_lead_to_the_figures_of_their_sets(staff, django_user_model):
    posted(30 * HOUR, 5)
    made = source("account", "ada")
    view = SavedView.objects.create(user=django_user_model.objects.get(), name="Seen", query="")
    assert 'href="/sets/author/7/"' in staff.get("/authors/7/").content.decode()
    assert f'href="/sets/source/{made.pk}/"' in staff.get(f"/sources/{made.pk}/").content.decode()
    assert f'href="/sets/view/{view.pk}/"' in staff.get("/tweets/").content.decode()
