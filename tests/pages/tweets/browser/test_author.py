"""The page of an author: what is usual, and how the newest posts do against it."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils.timezone import now

from tests.factories import TweetFactory, id_born
from tests.jobs.plans import nodes
from tests.pages.conftest import watched
from tests.pages.looking import looking
from tests.pages.many import fill
from tests.pages.sources import some_staff, source, words
from trackers.dashboards.benchmarks import compared_with
from trackers.tweets import posted
from trackers.tweets.models import METRICS, Author, TweetText
from trackers.tweets.record import Measured, record
from trackers.xapi.results import Figures

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def posted_tweet(author, age, low=0, *, text="Some words", **given):
    """A post of the author's, so old; with what it had 20 hours after, and at the last look."""
    born = now() - age
    tweet = TweetFactory(id=id_born(born, low), author=author, created_at=born, **given)
    TweetText.objects.create(tweet=tweet, text=text)
    return tweet


def measured(tweet, after, **counts):
    figures = Figures(*(counts.get(metric) for metric in METRICS))
    at = tweet.created_at + after
    record([Measured(tweet.id, at, figures, hole_after=DAY)])


@pytest.fixture
def ada(db):
    return Author.objects.create(id=7, username="ada", name="Ada L.", checked_at=now())


@pytest.fixture
def usual_ones(ada):
    """Five posts with 100 to 500 views after a day."""
    for number in range(1, 6):
        tweet = posted_tweet(ada, (3 + number) * DAY, number)
        measured(tweet, 23 * HOUR, views=100 * number, likes=number)


def page(staff):
    return words(staff.get("/authors/7/").content.decode())


def test_an_author_without_posts_says_so(staff, ada):
    text = page(staff)

    assert "Ada L. @ada" in text
    assert "No post has been measured at the age of 15 minutes yet" in text
    assert "No source reads this account" in text


def test_the_benchmark_is_the_median_of_posts_at_the_same_age(staff, ada, usual_ones):
    assert "have 300 views or more after 24 hours; the middle half has 200 to 400." in page(staff)


def test_a_lower_median_at_a_later_age_is_explained_by_other_posts(staff, ada, usual_ones):
    """The young have more views at 6 hours than the old at 24."""
    assert "Not the same posts at each age" not in page(staff)
    for number in range(5):
        measured(posted_tweet(ada, 7 * HOUR, number), 5 * HOUR, views=1421)

    text = page(staff)

    assert "6 h 1,421 1,421 1,421 5 24 h 300 200 400 5" in text
    assert "Not the same posts at each age" in text


def test_each_post_is_compared_with_the_benchmark(staff, ada, usual_ones):
    tweet = posted_tweet(ada, 2 * DAY, text="A <b>success</b>")
    measured(tweet, 23 * HOUR, views=1400)

    html = staff.get("/authors/7/?part=author").content.decode()

    # The median of six is now 350.
    assert "A &lt;b&gt;success&lt;/b&gt;" in html
    said = words(html)
    assert "24 h 1,400 350 4.0 times the usual" in said
    assert "24 h 100 350 71% below" in said


@pytest.mark.parametrize(
    ("count", "median", "said"),
    [
        (0, 0, "as usual"),
        (3, 0, "above: usually none"),
        (108, 100, "as usual"),
        (150, 100, "50% above"),
        (40, 100, "60% below"),
        (230, 100, "2.3 times the usual"),
    ],
)
def test_the_score_is_said_in_words(count, median, said):
    assert compared_with(count, median)[0] == said


def test_likes_are_compared_where_views_are_unknown(staff, ada):
    for number in range(5):
        measured(posted_tweet(ada, (3 + number) * DAY, number), 23 * HOUR, likes=40)

    assert "have 40 likes or more after 24 hours" in page(staff)


def test_with_too_few_posts_the_page_says_how_many_are_lacking(staff, ada):
    measured(posted_tweet(ada, 3 * DAY), 23 * HOUR, views=9)

    assert "The usual is known once 3 more posts have been measured" in page(staff)


def test_counts_over_the_limit_are_shown_as_more_than(staff, ada, monkeypatch):
    monkeypatch.setattr(posted, "MAX_COUNTED_TWEETS", 2)
    monkeypatch.setattr("trackers.dashboards.authors.MAX_COUNTED_TWEETS", 2)
    for low in range(4):
        posted_tweet(ada, HOUR, low)

    assert "Tracked posts more than 2" in page(staff)


def test_the_pages_of_an_author_and_its_source_link_to_each_other(staff, ada):
    made = source("account", "ada", account_id=7, username="ada")

    assert f'href="/sources/{made.pk}/"' in staff.get("/authors/7/").content.decode()
    assert 'href="/authors/7/"' in staff.get(f"/sources/{made.pk}/").content.decode()


def test_names_of_authors_link_to_their_pages(staff):
    tweet = watched(author_id=7)

    for address in ("/tweets/", f"/tweets/{tweet.pk}/", "/authors/7/"):
        assert 'class="author"' in staff.get(address).content.decode(), address


def test_an_unknown_author_is_404_and_a_permission_is_needed(staff, client, ada):
    for address in (
        "/authors/8/",
        "/authors/99999999999999999999/?part=rows",
        "/authors/8/posts.csv",
    ):
        assert staff.get(address).status_code == 404
    bob = some_staff(client, "view_source")
    for address in (
        "/authors/7/",
        "/authors/7/?part=author",
        "/authors/7/?part=rows",
        "/authors/7/posts.csv",
    ):
        assert bob.get(address).status_code == 403


def test_the_posts_can_be_exported(staff, ada, usual_ones):
    answer = staff.get("/authors/7/posts.csv")

    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert lines[0].split(",")[-2:] == ["views_at_24_h", "likes_at_24_h"]
    assert [line.split(",")[-2:] for line in lines[1:]] == [[f"{n}00", f"{n}"] for n in range(1, 6)]
    assert 'href="/authors/7/posts.jsonl"' in staff.get("/authors/7/").content.decode()


@pytest.mark.django_db(transaction=True)
def test_no_query_of_the_page_grows_with_the_number_of_tweets():
    fill(20_000)
    [(busiest,)] = asked(
        "SELECT author_id FROM trackers_tweet GROUP BY 1 ORDER BY count(*) DESC LIMIT 1"
    )
    given = {"author": busiest, "most": 10}

    [(plan,)] = asked(f"EXPLAIN (ANALYZE, FORMAT JSON) {posted.COUNT_TRACKED}", given)

    reached = [one for one in nodes(plan[0]["Plan"]) if "Index Name" in one]
    assert {one["Index Name"] for one in reached} == {"tweet_by_author"}
    assert max(one["Actual Rows"] for one in reached) <= 10
    assert not any(one["Node Type"] == "Seq Scan" for one in nodes(plan[0]["Plan"]))


def asked(statement, given=None):
    with connection.cursor() as db:
        db.execute(statement, given)
        return db.fetchall()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_person_goes_from_a_tweet_to_its_author_on_a_phone(staff, live_server, ada, usual_ones):
    with looking(staff, live_server, viewport={"width": 390, "height": 844}) as seen:
        seen.page.goto(f"{seen.address}/tweets/")
        seen.follow("a.author >> nth=0")
        seen.page.wait_for_selector("#benchmark-title")
        assert "300 views" in seen.page.inner_text("#author")
        seen.follow("#author-figures")
        assert seen.page.inner_text("#set-title") == "@ada"
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
