"""The page of an author: what is usual, and the newest posts with their scores."""

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
from tests.scores.posts import post, usual_posts
from trackers.scores.benchmarks import make_benchmarks
from trackers.tweets import posted
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import Author, TweetText

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
DAY_PLACE = AGES.index(DAY) + 1


def posted_tweet(author, age, low=0, *, text="Some words", **given):
    """A post of the author's, so old."""
    born = now() - age
    tweet = TweetFactory(id=id_born(born, low), author=author, created_at=born, **given)
    TweetText.objects.create(tweet=tweet, text=text)
    return tweet


@pytest.fixture
def ada(db):
    return Author.objects.create(id=7, username="ada", name="Ada L.", checked_at=now())


@pytest.fixture
def usual_ones(ada):
    """Twelve photos with 100 to 1,200 views after a day, of which the middle half is 400 to 900."""
    for number in range(1, 13):
        [post] = usual_posts(
            7, 1, place=DAY_PLACE, kind=PostKind.PHOTO, first=(30 + number) * DAY,
            views=100 * number, likes=number,
        )  # fmt: skip
        assert post.author_id == 7
    make_benchmarks([7], now=now())


def page(staff):
    return words(staff.get("/authors/7/").content.decode())


def test_an_author_without_posts_says_so(staff, ada):
    text = page(staff)

    assert "Ada L. @ada" in text
    assert "What is usual is known once 10 more posts have been measured" in text
    assert "No source reads this account" in text


def test_benchmarks_are_shown_by_kind_and_age(staff, ada, usual_ones):
    usual_posts(7, 3, place=DAY_PLACE, kind=PostKind.TEXT, first=90 * DAY, views=1)
    make_benchmarks([7], now=now())

    text = page(staff)

    assert "Usual views at 24 h 500" in text
    assert "All kinds – – – 500 – 15" in text
    assert "Photo – – – 650 – 12" in text
    assert "Text" not in text.partition("What is usual")[2].partition("Export")[0]


def test_a_new_post_has_the_score_that_the_benchmark_gives(staff, ada, usual_ones):
    tweet = post(7, posted=DAY, kind=PostKind.PHOTO, now=now(), views=2600)

    html = staff.get("/authors/7/?part=rows").content.decode()

    assert f'id="row-{tweet.pk}"' in html
    assert "4.0× usually 650" in words(html)


def test_likes_are_compared_where_views_are_unknown(staff, ada):
    usual_posts(7, 10, place=DAY_PLACE, likes=40)
    make_benchmarks([7], now=now())

    text = page(staff)

    assert "Usual likes at 24 h 40" in text
    assert "Likes at each age" in text


def test_with_too_few_posts_the_page_says_how_many_are_lacking(staff, ada):
    usual_posts(7, 7, place=DAY_PLACE, views=9)
    make_benchmarks([7], now=now())

    assert "What is usual is known once 3 more posts have been measured" in page(staff)


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
    for address in ("/authors/8/", "/authors/99999999999999999999/?part=rows"):
        assert staff.get(address).status_code == 404
    bob = some_staff(client, "view_source")
    for address in ("/authors/7/", "/authors/7/?part=author", "/authors/7/?part=rows"):
        assert bob.get(address).status_code == 403


def test_the_posts_can_be_exported(staff, ada, usual_ones):
    assert 'href="/tweets/export.csv?author=7"' in staff.get("/authors/7/").content.decode()

    answer = staff.get("/tweets/export.csv?author=7")

    first, *rows = b"".join(answer.streaming_content).decode().splitlines()
    place = first.split(",").index("views_at_24_h")
    assert sorted(int(row.split(",")[place]) for row in rows) == [n * 100 for n in range(1, 13)]


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
        assert "650" in seen.page.inner_text("#author")
        seen.follow("#author-figures")
        assert seen.page.inner_text("#set-title") == "@ada"
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
