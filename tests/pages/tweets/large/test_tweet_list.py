"""The page of tweets: its filters and orders, saved views, the box to paste, and its file."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import end
from tests.factories import TweetFactory, id_born
from tests.pages.conftest import born, flat, measure, watched
from tests.pages.sources import source
from tests.pages.tweets.db.test_tweets import row_ids
from trackers.ingest.sources.models import SourceTweet
from trackers.listing import sorts
from trackers.saved_views import acts
from trackers.saved_views.acts import MAX_SAVED_VIEWS
from trackers.saved_views.models import SavedView
from trackers.tweets.gains import update
from trackers.tweets.gains.models import Gain
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import TweetText
from tweetwatch.pieces import Deadline

pytestmark = pytest.mark.django_db

LIST = "/tweets/"
FILE = "/tweets/export"


@pytest.fixture
def three():
    """Of two authors, in three languages, with 10, 30 and 20 likes."""
    tweets = [
        watched(1, author_id=8, username="ann", text="one", due_in=300),
        watched(2, author_id=9, username="Bob", text="two", due_in=100),
        watched(3, author_id=8, username="ann", text="three", due_in=200),
    ]
    for tweet, lang, likes in zip(tweets, ("en", "de", "ja"), (10, 30, 20), strict=True):
        measure(tweet, likes, likes=likes, views=100 - likes)
        TweetText.objects.filter(tweet=tweet).update(lang=lang)
    one, two, three = (TweetText.objects.filter(tweet=tweet) for tweet in tweets)
    one.update(kind=PostKind.REPLY, hashtags=["moon"], mentions=["nasa"], media_keys=["3_1"])
    two.update(kind=PostKind.VIDEO, hashtags=["moon", "sun"], domains=["example.org"])
    three.update(kind=None, cashtags=["twtr"])
    return [tweet.pk for tweet in tweets]


def grow(tweet, *figures):
    """Measured with so many likes, a minute after the other until now; then the lists are kept."""
    for place, likes in enumerate(figures):
        measure(tweet, 60 + 60 * place, likes=likes, views=likes)
    update.update_gains(now=datetime.now(UTC), deadline=Deadline.after(60))


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        pytest.param({"author": "@ann"}, [2, 0], id="an author"),
        pytest.param({"author": "9"}, [1], id="an author's id"),
        pytest.param({"author": "nobody"}, [], id="no author"),
        pytest.param({"lang": "ja"}, [2], id="a language"),
        pytest.param({"kind": "reply"}, [0], id="a kind"),
        pytest.param({"kind": "own"}, [1], id="no replies or quotes"),
        pytest.param({"has": "link"}, [1], id="a link"),
        pytest.param({"has": "media"}, [0], id="media"),
        pytest.param({"hashtag": "#Moon"}, [1, 0], id="a hashtag"),
        pytest.param({"hashtag": "moon", "domain": "Example.org"}, [1], id="a hashtag and domain"),
        pytest.param({"domain": "https://www.example.org/a"}, [1], id="the domain of an address"),
        pytest.param({"mention": "@NASA"}, [0], id="a mention"),
        pytest.param({"cashtag": "$TWTR"}, [2], id="a cashtag"),
        pytest.param({"hashtag": "moon", "q": "two"}, [1], id="words with a hashtag"),
        pytest.param({"hashtag": "moo"}, [], id="the beginning of a hashtag"),
        pytest.param({"min_likes": "20"}, [2, 1], id="a minimum of a metric"),
        pytest.param({"min_likes": "20", "min_views": "75"}, [2], id="two minimums"),
        pytest.param({"age": "1h"}, [2, 1, 0], id="an age"),
        pytest.param({"until": "2020-01-01"}, [], id="before a day"),
        pytest.param({"since": "2020-01-01", "author": "Bob"}, [1], id="from a day on"),
        pytest.param({"q": "two", "author": "@bob"}, [1], id="words of an author"),
        pytest.param({"q": "two", "lang": "ja"}, [], id="words in another language"),
        pytest.param({"state": "fresh", "author": "ann"}, [2, 0], id="a state and an author"),
        pytest.param({"lang": "??", "age": "x", "min_likes": "-1"}, [2, 1, 0], id="nonsense"),
    ],
)
def test_each_filter_keeps_its_matches(staff, three, query, kept):
    assert row_ids(staff.get(LIST, query)) == [three[place] for place in kept]


def test_a_period_ends_the_search_at_its_end(staff, three):
    old = TweetFactory(id=id_born(born() - timedelta(days=9)))
    page = staff.get(LIST, {"age": "7d"})

    assert row_ids(page) == three[::-1]
    assert "further back" not in page.content.decode()
    assert row_ids(staff.get(LIST, {"until": f"{born() - timedelta(days=8):%Y-%m-%d}"})) == [old.pk]


@pytest.mark.parametrize(
    ("query", "order"),
    [
        pytest.param({"sort": "likes"}, [1, 2, 0], id="likes"),
        pytest.param({"sort": "likes", "order": "up"}, [0, 2, 1], id="fewest likes"),
        pytest.param({"sort": "views"}, [0, 2, 1], id="views"),
        pytest.param({"sort": "author", "order": "up"}, [2, 0, 1], id="author"),
        pytest.param({"sort": "checked"}, [1, 2, 0], id="checked last"),
        pytest.param({"sort": "next", "order": "up"}, [1, 2, 0], id="checked next"),
        pytest.param({"sort": "likes", "author": "ann"}, [2, 0], id="of one author"),
        pytest.param({"sort": "likes", "q": "t"}, [1, 2], id="of a search"),
        pytest.param({"sort": "height"}, [2, 1, 0], id="nonsense"),
    ],
)
def test_the_list_sorts_by_every_column(staff, three, query, order):
    assert row_ids(staff.get(LIST, query)) == [three[place] for place in order]


def test_of_many_tweets_the_highest_are_listed_and_the_page_says_so(staff, three, monkeypatch):
    monkeypatch.setattr(sorts, "MAX_SORTED", 2)
    update.update_gains(now=datetime.now(UTC), deadline=Deadline.after(60))

    assert row_ids(staff.get(LIST, {"sort": "likes"})) == [three[1], three[2], three[0]]
    narrowed = staff.get(LIST, {"sort": "likes", "min_likes": "15"})
    assert row_ids(narrowed) == [three[1], three[2]]
    assert "2 tweets match" in flat(narrowed)
    assert row_ids(staff.get(LIST, {"sort": "likes", "q": "t"})) == [three[1], three[2]]
    checked = staff.get(LIST, {"sort": "checked"})
    assert row_ids(checked) == three[::-1]
    assert "tweets match, so they are not sorted by this column" in flat(checked)
    assert "aria-sort" not in flat(checked)
    assert "the newest first</caption>" in flat(checked)
    assert row_ids(staff.get(LIST, {"sort": "checked", "author": "ann"})) == [three[2], three[0]]


@pytest.mark.parametrize(
    ("query", "kept", "words"),
    [
        pytest.param({"lang": "xx"}, [], "Nothing found", id="none"),
        pytest.param({"lang": "de"}, [1], "1 tweet matches", id="one"),
        pytest.param({"min_likes": "15"}, [1, 2], "2 tweets match", id="as many as are sorted"),
    ],
)
@pytest.mark.parametrize("sort", ["checked", "likes"])
def test_matches_are_counted_after_all_filters(staff, three, monkeypatch, sort, query, kept, words):
    monkeypatch.setattr(sorts, "MAX_SORTED", 2)
    monkeypatch.setattr(sorts, "_PIECE", 1)

    page = staff.get(LIST, {"sort": sort, **query})
    assert row_ids(page) == [three[place] for place in kept]
    assert words in flat(page)
    assert "More than" not in flat(page)


def test_where_time_is_up_the_page_does_not_say_how_many_match(staff, three, monkeypatch):
    monkeypatch.setattr(sorts, "MAX_SORTED", 1)
    monkeypatch.setattr(sorts, "_SEARCH_TIME", 0)
    update.update_gains(now=datetime.now(UTC), deadline=Deadline.after(60))
    reason = "Half a second was not enough to search all tweets"

    checked = staff.get(LIST, {"sort": "checked", "lang": "en"})
    assert row_ids(checked) == [three[0]]
    assert f"{reason}, so they are not sorted by this column" in flat(checked)
    liked = staff.get(LIST, {"sort": "likes", "lang": "en"})
    assert row_ids(liked) == [three[0]]
    assert f"{reason}. Only those among the 2,000 with the highest figure" in flat(liked)
    assert "tweets match" not in flat(checked) + flat(liked)
    assert "tweet matches" not in flat(checked) + flat(liked)


def test_the_fastest_growing_tweets_show_gain_and_window(staff):
    slow, fast = watched(1, text="slow"), watched(2, text="fast")
    grow(slow, 5, 6, 7)
    grow(fast, 1, 50, 116)

    page = staff.get(LIST, {"sort": "gain-likes-60"})
    assert row_ids(page) == [fast.pk, slow.pk]
    assert '<data value="115">+115</data>' in page.content.decode()
    # Of two minutes no rate is said.
    assert "in 2 min</small>" in page.content.decode()
    Gain.objects.update(since=F("until") - timedelta(minutes=20))
    slower = staff.get(LIST, {"sort": "gain-likes-60"}).content.decode()
    assert "in 20 min, ≈ 1,380 an hour" in slower
    assert "Likes gained in an hour" in page.content.decode()
    assert row_ids(staff.get(LIST, {"sort": "velocity-likes-15", "q": "slow"})) == [slow.pk]
    assert row_ids(staff.get(LIST, {"sort": "gain-likes-1440", "min_likes": "100"})) == [fast.pk]
    assert "Nothing grew" in staff.get(LIST, {"sort": "gain-quotes-60"}).content.decode()


def test_ordered_lists_have_numbered_pages(staff):
    tweets = [watched(low, author_id=8) for low in range(60)]
    for low, tweet in enumerate(tweets):
        grow_by = low + 1
        measure(tweet, 60, likes=0)
        measure(tweet, 120, likes=grow_by)
    update.update_gains(now=datetime.now(UTC), deadline=Deadline.after(60))
    in_order = [tweet.pk for tweet in tweets[::-1]]

    for sort in ("likes", "gain-likes-60"):
        first = staff.get(LIST, {"sort": sort})
        assert row_ids(first) == in_order[:50]
        [second] = set(re.findall(r'href="\?([^"]*page=2)" rel="next"', first.content.decode()))
        assert row_ids(staff.get(f"{LIST}?{second.replace('&amp;', '&')}")) == in_order[50:]


def test_a_heading_links_to_its_order_and_then_the_reverse(staff, three):
    page = staff.get(LIST, {"sort": "likes", "author": "ann"}).content.decode()

    assert 'aria-sort="descending"' in page
    assert "?author=ann&amp;sort=likes&amp;order=up" in page
    assert "?author=ann&amp;sort=views" in page


def test_only_the_chosen_columns_are_shown(staff, three):
    page = staff.get(LIST, {"columns": ["likes", "check"]}).content.decode()
    rows = staff.get("/tweets/", {"part": "rows", "columns": "likes,check"}).content.decode()

    for told in (page, rows):
        assert 'data-metric="likes"' in told
        assert 'data-metric="views"' not in told
        assert 'class="curve"' not in told
    assert page.count('<th scope="col"') == 3


def test_the_list_shows_the_number_of_matches_where_known(staff, three):
    assert 'id="known" role="status">3 tweets are tracked<' in staff.get(LIST).content.decode()
    assert (
        'id="known" role="status">2 tweets match<'
        in staff.get(LIST, {"sort": "likes", "author": "ann"}).content.decode()
    )


def test_a_search_replaces_the_address_by_a_short_one(staff, three):
    query = {"q": "one", "state": "", "author": "", "min_likes": "", "columns": ["likes"]}
    answer = staff.get(LIST, query, headers={"HX-Request": "true"})

    assert answer["HX-Replace-Url"] == "/tweets/?q=one&columns=likes"


def test_a_view_is_saved_replaced_and_removed_for_its_owner_only(staff, three, client):
    query = "author=ann&sort=likes"
    for _ in range(2):
        staff.post("/tweets/views/save", {"name": " Of Ann ", "query": f"{query}&nonsense=1"})
    [view] = SavedView.objects.all()
    assert (view.name, view.query) == ("Of Ann", query)
    page = flat(staff.get(LIST))
    assert 'href="/tweets/?author=ann&amp;sort=likes">Of Ann</a>' in page

    User.objects.create_superuser("bob", "", "another password of no account")
    another = type(client)()
    another.force_login(User.objects.get(username="bob"))
    assert "Of Ann" not in another.get(LIST).content.decode()
    assert another.post(f"/tweets/views/{view.pk}/remove").status_code == 404

    staff.post(f"/tweets/views/{view.pk}/remove")
    assert SavedView.objects.count() == 0


def test_a_view_that_was_removed_can_be_had_back_from_the_next_page(staff):
    staff.post("/tweets/views/save", {"name": "Of “Ann”", "query": "author=ann&sort=likes"})
    [view] = SavedView.objects.all()

    page = flat(staff.post(f"/tweets/views/{view.pk}/remove", follow=True))
    form = page.partition('<form class="notice undo"')[2].partition("</form>")[0]
    [signed] = re.findall(r'name="removed" value="([^"]*)"', form)

    assert "is removed" in form
    assert '<button class="quiet">Undo</button>' in form
    assert SavedView.objects.count() == 0
    staff.post("/tweets/views/undo", {"removed": signed})
    [back] = SavedView.objects.all()
    assert acts.undoing(back) == acts.undoing(view)
    assert "Undo" not in flat(staff.get(LIST))


def test_a_view_needs_a_name_and_their_number_is_limited(staff):
    assert (
        "needs a name"
        in staff.post(
            "/tweets/views/save", {"name": " ", "query": ""}, follow=True
        ).content.decode()
    )
    me = User.objects.get(username="ada")
    SavedView.objects.bulk_create(
        SavedView(user=me, name=f"view {n}", query="") for n in range(MAX_SAVED_VIEWS)
    )
    staff.post("/tweets/views/save", {"name": "one more", "query": ""})
    assert SavedView.objects.count() == MAX_SAVED_VIEWS


def test_a_source_is_chosen_from_a_list(staff, three):
    there = source("account", "nasa")
    SourceTweet.objects.create(source=there, tweet_id=three[0], seen_at=datetime.now(UTC))

    assert f'<option value="{there.pk}">' in staff.get(LIST).content.decode()
    assert row_ids(staff.get(LIST, {"source": there.pk})) == [three[0]]
    assert row_ids(staff.get(LIST, {"source": there.pk, "author": "bob"})) == []


def exported(staff, **query):
    told = b"".join(staff.get(f"{FILE}.csv", query).streaming_content).decode()
    return list(csv.DictReader(io.StringIO(told, newline="")))


def test_the_export_has_all_matches_in_the_order_of_the_page(staff, monkeypatch):
    monkeypatch.setattr("trackers.listing.export.ROWS_PER_READ", 7)
    tweets = [watched(low, author_id=8 + low % 2, username="ab"[low % 2], text="=1+1")
              for low in range(60)]  # fmt: skip
    for low, tweet in enumerate(tweets):
        measure(tweet, 60, likes=low)
    ids = [str(tweet.pk) for tweet in tweets]

    assert [row["tweet_id"] for row in exported(staff)] == ids[::-1]
    assert [row["tweet_id"] for row in exported(staff, author="a")] == ids[::2][::-1]
    assert [row["tweet_id"] for row in exported(staff, sort="likes", order="up")] == ids
    [row] = exported(staff, q=ids[5])
    assert (row["text"], row["state"], row["likes"], row["author"]) == ("'=1+1", "fresh", "5", "b")
    assert row["created_at"] == f"{born():%Y-%m-%dT%H:%M:%S}.000000Z"


def test_an_ordered_export_reads_the_list_once(staff):
    def statements():
        with CaptureQueriesContext(connection) as asked:
            told = exported(staff, sort="likes")
        return len(told), len(asked)

    for low in range(60):
        measure(watched(low), 60, likes=low)
    few = statements()
    for low in range(60, 120):
        measure(watched(low), 60, likes=low)

    assert few[0] == 60
    assert statements() == (120, few[1])


def test_the_export_of_growing_tweets_has_their_gains(staff):
    tweet = watched()
    grow(tweet, 1, 116)

    [row] = exported(staff, sort="gain-likes-60")
    assert (row["gain"], row["velocity"]) == ("115", "1380.0")
    assert row["since"] < row["until"]
    assert Gain.objects.filter(tweet_id=tweet.pk, metric="likes").exists()
    in_parquet = staff.get(f"{FILE}.parquet", {"sort": "gain-likes-60"})
    end(in_parquet)
    assert in_parquet.status_code == 200
    assert staff.get(f"{FILE}.xlsx").status_code == 404
