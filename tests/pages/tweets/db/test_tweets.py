import re
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from tests.factories import TweetFactory, TweetUpdateFactory, id_born
from tests.pages.conftest import born, flat, measure, watched
from trackers.tweets.models import Author, Tweet, TweetText
from trackers.updater.models import TweetBucket


def row_ids(page):
    """The ids of the tweets on a page, in their order."""
    return [int(id) for id in re.findall(r'id="row-(\d+)"', page.content.decode())]


def test_a_visitor_who_is_not_logged_in_is_led_to_the_login(client):
    page = client.get("/tweets/")

    assert page.status_code == 302
    assert page.url == "/login/?next=/tweets/"


def test_an_empty_page_says_what_to_do(staff):
    page = staff.get("/tweets/").content.decode()

    assert "No tweets tracked yet" in page
    assert '<details class="filters" id="track" open>' in page
    assert f'<a href="{reverse("sources")}">add a source</a>' in page


def test_a_row_shows_every_metric_and_its_last_change(staff):
    tweet = watched(text="Something & <b>more</b>")
    measure(tweet, 60, views=1_234_567, likes=12, quotes=5)
    measure(tweet, 120, views=1_240_000, likes=10, quotes=5)

    page = staff.get("/tweets/").content.decode()

    assert '<data value="1240000">1,240,000</data>' in page
    assert ">+5,433</small>" in page
    assert '<small class="delta falls"' in page
    assert ">−2</small>" in page
    assert "Something &amp; &lt;b&gt;more&lt;/b&gt;" in page
    assert f'datetime="{(born() + timedelta(seconds=120)).isoformat()}"' in page
    assert "next <time" in page


def test_an_unknown_metric_is_a_dash_and_not_a_zero(staff):
    tweet = watched()
    measure(tweet, 60, views=None, likes=3)

    page = staff.get("/tweets/").content.decode()

    assert '<data value="">–</data>' in page
    assert '<data value="3">3</data>' in page


def test_a_sparkline_is_described_in_words(staff):
    tweet = watched()
    measure(tweet, 60, views=100)
    measure(tweet, 120, views=250)

    page = staff.get("/tweets/").content.decode()

    assert "Views from 100 to 250 in 1 min, lowest 100, highest 250" in page
    assert page.count("<polyline") == 1


def test_a_sparkline_is_broken_where_checks_are_missing(staff):
    tweet = watched()
    for seconds in (0, 60, 400, 460):
        measure(tweet, seconds, views=seconds + 1)

    assert staff.get("/tweets/").content.decode().count("<polyline") == 2


def test_fifty_rows_take_as_many_queries_as_one(staff, django_assert_num_queries):
    for low in range(50):
        tweet = watched(low, author_id=low + 1, username=f"author_{low}")
        measure(tweet, 60, views=1)
        measure(tweet, 120, views=2)

    # Session, user, tweets with author and text, their jobs; time and intervals, in one round trip;
    # all their runs; how many there are, sources and tags to choose from, saved views, a general
    # pause.
    with django_assert_num_queries(13):
        page = staff.get("/tweets/?sort=newest")

    assert len(row_ids(page)) == 50


def test_pages_follow_without_gap_or_overlap(staff):
    ids = sorted((watched(low).id for low in range(120)), reverse=True)

    first = staff.get("/tweets/?sort=newest")
    second = staff.get(f"/tweets/?before={ids[49]}")
    third = staff.get(f"/tweets/?before={ids[99]}")
    back = staff.get(f"/tweets/?after={ids[100]}")

    assert row_ids(first) + row_ids(second) + row_ids(third) == ids
    assert row_ids(back) == ids[50:100]
    assert f"?before={ids[49]}" in first.content.decode()
    assert "Older" not in third.content.decode()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param("night train", ["a"], id="words of the text"),
        pytest.param("NIGHT", ["a"], id="in any case"),
        pytest.param("@grace", ["b"], id="an author"),
        pytest.param("grac", ["b"], id="a part of an author's name"),
        pytest.param("100%", ["b"], id="a percent sign is itself"),
        pytest.param("nowhere", [], id="nothing"),
    ],
)
def test_search_matches(staff, words, expected):
    tweets = {
        "a": watched(1, text="The night train left"),
        "b": watched(2, text="100% sure", author_id=8, username="grace"),
    }

    assert row_ids(staff.get("/tweets/", {"q": words})) == [tweets[name].id for name in expected]


def test_search_finds_a_tweet_by_its_id_and_by_its_link(staff):
    tweet, _other = watched(1), watched(2)

    assert row_ids(staff.get("/tweets/", {"q": str(tweet.id)})) == [tweet.id]
    link = f"https://x.com/ada/status/{tweet.id}?s=20"
    assert row_ids(staff.get("/tweets/", {"q": link})) == [tweet.id]


@pytest.mark.parametrize("words", ["9" * 19, "\0", "%", "'", "@", "https://x.com/a/status/"])
def test_any_search_text_is_answered(staff, words):
    watched()

    assert (
        staff.get("/tweets/", {"q": words, "before": "x", "state": "nonsense"}).status_code == 200
    )


def test_every_tweet_is_in_one_state(staff):
    now = datetime.now(UTC)
    fresh = watched(1)
    resting = TweetFactory(measured=True)
    paused = TweetFactory(paused=True)
    gone = watched(2)
    Tweet.objects.filter(pk=gone.id).update(
        missing_since=now, missing_reason="suspended", gone_at=now
    )

    collected = {
        state: row_ids(staff.get("/tweets/", {"state": state}))
        for state in ("fresh", "resting", "paused", "gone")
    }

    assert collected == {
        "fresh": [fresh.id],
        "resting": [resting.id],
        "paused": [paused.id],
        "gone": [gone.id],
    }


def test_the_text_of_a_gone_tweet_is_shown_nowhere(staff):
    tweet = watched(text="Regretted words")
    now = datetime.now(UTC)
    Tweet.objects.filter(pk=tweet.id).update(
        missing_since=now, missing_reason="not_found", gone_at=now
    )
    # As if the removal of the text had been missed.
    assert TweetText.objects.filter(pk=tweet.id).exists()

    pages = [staff.get("/tweets/"), staff.get(f"/tweets/{tweet.id}/")]

    for page in pages:
        assert "Regretted words" not in page.content.decode()
        assert "deleted" in page.content.decode()


def test_a_tweet_that_x_never_showed_has_its_id_its_date_and_says_so(staff):
    now = datetime.now(UTC)
    never, once = TweetFactory(id=id_born(born(), 1)), watched(2)
    Tweet.objects.update(missing_since=now, missing_reason="not_found", gone_at=now)

    page = flat(staff.get("/tweets/"))

    assert f'<strong dir="auto">Tweet {never.id}</strong> <span class="soft born">' in page
    assert page.count("X does not know it: deleted") == 1
    assert page.count("No longer shown: deleted") == 1
    assert f"/tweets/{once.id}/" in page


def test_a_claimed_tweet_is_shown_as_being_checked(staff):
    tweet = watched()
    TweetBucket.objects.filter(keys=[tweet.id]).update(lease=77)

    assert "being checked" in staff.get("/tweets/").content.decode()


def test_an_isolated_tweet_is_shown_as_such(staff):
    tweet = TweetFactory(measured=True)
    TweetUpdateFactory(key=tweet.id, strikes=4, due_at=datetime(9000, 1, 1, tzinfo=UTC))

    page = flat(staff.get("/tweets/"))

    assert "Isolated" in page
    assert "no check planned" in page


def test_an_author_is_shown_by_a_known_name(staff):
    watched(author_id=7, username="ada")
    Author.objects.filter(pk=7).update(name="Ada Lovelace")

    page = staff.get("/tweets/").content.decode()

    assert "<strong>Ada Lovelace</strong>" in page
    assert "@ada" in page


def test_the_page_complies_with_the_content_security_policy(staff):
    measure(watched(), 60, views=1)

    for address in ("/tweets/", f"/tweets/{Tweet.objects.get().pk}/", "/operations/"):
        page = staff.get(address)
        html = page.content.decode()
        assert "default-src 'self'" in page.headers["Content-Security-Policy"]
        assert "unsafe" not in page.headers["Content-Security-Policy"]
        assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|\son[a-z]+=|<style", html)
        assert not re.findall(r'(?:src|href)="(?:https?:)?//(?!x\.com/i/status/)', html)
