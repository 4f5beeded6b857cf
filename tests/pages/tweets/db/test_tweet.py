import csv
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import Permission, User

from tests.factories import TweetFactory, post
from tests.pages.conftest import born, flat, measure, watched
from tests.pages.tweets.db.test_tweets import row_ids
from trackers.tweets.history import history
from trackers.tweets.models import METRICS, Tweet, TweetText
from trackers.tweets.versions import SeenVersion, learn
from trackers.updater.models import TweetUpdate
from tweetwatch.clock_times import iso


def epoch(seconds):
    return (born() + timedelta(seconds=seconds)).timestamp()


def test_the_series_has_the_measurements_and_nulls_for_gaps(staff):
    tweet = watched()
    measure(tweet, 0, views=5, likes=1)
    measure(tweet, 60, views=9, likes=1)
    measure(tweet, 120, views=9, likes=1)
    measure(tweet, 480, views=20, likes=3)

    series = staff.get(f"/tweets/{tweet.id}/series.json").json()

    assert series["tweet_id"] == str(tweet.id)
    assert series["times"] == [epoch(0), epoch(60), epoch(120), epoch(300), epoch(480)]
    assert series["series"]["views"] == [5, 9, 9, None, 20]
    assert series["series"]["likes"] == [1, 1, 1, None, 3]
    assert (series["runs"], series["drawn"]) == (3, 3)


def test_a_range_leaves_out_earlier_samples(staff):
    tweet = watched()
    Tweet.objects.filter(pk=tweet.id).update(created_at=born() - timedelta(seconds=7500))
    measure(tweet, -7200, likes=1)
    measure(tweet, 0, likes=2)

    hour = staff.get(f"/tweets/{tweet.id}/series.json?range=1h").json()
    all = staff.get(f"/tweets/{tweet.id}/series.json?range=nonsense").json()

    assert hour["times"] == [epoch(0)]
    assert all["times"] == [epoch(-7200), epoch(-3600), epoch(0)]


def test_the_table_and_the_caption_describe_the_curve(staff):
    tweet = watched()
    measure(tweet, 0, views=1000, likes=4)
    measure(tweet, 60, views=2500, likes=3)
    measure(tweet, 480, views=2500, likes=3)

    page = staff.get(f"/tweets/{tweet.id}/").content.decode()

    assert "Views rose from 1,000 to 2,500; Likes fell from 4 to 3." in page
    assert "There is one gap without measurements." in page
    assert page.count("Gap: not measured") == 1
    assert page.count('<td class="figure">2,500</td>') == 2


@pytest.mark.parametrize(
    ("because", "sentence"),
    [
        pytest.param("", "X leaves it out of its replies and does not say why", id="omitted"),
        pytest.param("like_count is a text", "(like_count is a text)", id="broken"),
    ],
)
def test_an_unreadable_tweet_says_since_when_and_why(staff, because, sentence):
    tweet = watched(unreadable_since=born(), unreadable_reason=because)

    page = staff.get(f"/tweets/{tweet.id}/").content.decode()

    assert '<span class="badge unreadable">Unreadable</span>' in page
    assert f'{sentence}, since <time datetime="{born().isoformat()}"' in page


def test_an_edited_tweet_shows_its_earlier_texts_and_when_they_were_seen(staff):
    tweet = watched(text="hopefuly")
    second = tweet.id + 5
    edited = post(second, text="hopefully")._replace(edit_history=(tweet.id, second))
    learn([SeenVersion(edited, born())])

    page = staff.get(f"/tweets/{tweet.id}/").content.decode()

    assert '<p class="said" dir="auto">hopefully</p>' in page
    assert '<p dir="auto">hopefuly</p>' in page
    assert "Edited: 2 versions" in page
    assert f'first seen <time datetime="{born().isoformat()}"' in page
    assert f"https://x.com/i/status/{second}" in page
    for words in ("hopefully", str(second), f"https://x.com/ada/status/{second}"):
        assert row_ids(staff.get("/tweets/", {"q": words})) == [tweet.id]
    assert row_ids(staff.get("/tweets/", {"q": "hopefuly"})) == []
    assert staff.get(f"/tweets/{second}/").url == f"/tweets/{tweet.id}/"


def test_the_description_of_x_is_on_the_page(staff):
    tweet = watched(text="words", withheld="DE FR copyright")
    TweetText.objects.update(
        conversation_id=31, replied_to=32, quoted=33, retweeted=None, media_keys=["3_1", "7_2"],
        hashtags=["moon", "moon"], domains=["example.org"]
    )  # fmt: skip

    page = staff.get(f"/tweets/{tweet.id}/").content.decode()

    for id in (31, 32, 33):
        assert f'href="https://x.com/i/status/{id}"' in page
    assert "photo, video" in page
    assert page.count('<a href="/sets/hashtag/moon/" dir="auto">#moon</a>') == 1
    assert '<a href="/sets/domain/example.org/" dir="auto">example.org</a>' in page
    assert "DE, FR for copyright" in page
    assert "Retweet of" not in page


def test_links_lead_to_x_s_own_address_by_what_x_displays(staff):
    tweet = watched(text="see https://t.co/aa &amp; <b> https://t.co/bb")
    page_link = {"url": "https://t.co/aa", "display": "example.org/a…", "of_media": False}
    photo = {"url": "https://t.co/bb", "display": "pic.x.com/bb", "of_media": True}
    TweetText.objects.update(links=[page_link, photo])
    link = (
        '<a href="https://t.co/aa" rel="noreferrer noopener nofollow" target="_blank">'
        "example.org/a…</a>"
    )

    page = staff.get(f"/tweets/{tweet.id}/").content.decode()
    listed = flat(staff.get("/tweets/"))

    assert f'<p class="said" dir="auto">see {link} &amp; &lt;b&gt;</p>' in page
    assert "see example.org/a… &amp; &lt;b&gt;" in listed
    assert f'<p class="post-links" dir="auto">{link}</p>' in listed
    assert "t.co/bb" not in page + listed


def test_a_separately_tracked_version_names_its_tweet(staff):
    first, second = watched(1, tracked_at=born()), watched(2, due_in=60)
    edited = post(second.id, text="new")._replace(edit_history=(first.id, second.id))
    learn([SeenVersion(edited, born())])
    TweetUpdate.objects.filter(pk=second.id).delete()

    page = flat(staff.get(f"/tweets/{second.id}/"))

    assert f'is a version of <a href="/tweets/{first.id}/">' in page
    assert "its own samples" in flat(staff.get(f"/tweets/{first.id}/"))


def test_the_csv_has_the_whole_history(staff):
    tweet = watched()
    measure(tweet, 0, views=None, likes=4)
    measure(tweet, 60, views=7, likes=5)

    answer = staff.get(f"/tweets/{tweet.id}/samples.csv")
    rows = list(csv.DictReader(b"".join(answer.streaming_content).decode().splitlines()))

    expected = [
        {
            "tweet_id": str(run.tweet_id),
            "taken_at": iso(run.taken_at, to="microseconds"),
            "measured_until": iso(run.measured_until, to="microseconds"),
            "measurements": str(run.measurements),
            **{m: "" if getattr(run, m) is None else str(getattr(run, m)) for m in METRICS},
        }
        for run in history(tweet.id)
    ]
    assert len(rows) == 2
    assert rows == expected


def test_a_page_takes_as_many_queries_for_any_length_of_history(staff, django_assert_num_queries):
    tweet = watched()
    for seconds in range(0, 600, 60):
        measure(tweet, seconds, likes=seconds)

    # Content types are kept by the process.
    staff.get(f"/tweets/{tweet.id}/")
    # Session, user, the tweet, its job, its sources, the person's home, and their teams; time and
    # intervals, in one round trip; its runs; its newest; what it had an hour ago; the author's
    # earlier tweets, and anybody's; milestones; its lines of the admin's history; its tags, and
    # those to choose from; notes; whether all is paused.
    with django_assert_num_queries(20):
        staff.get(f"/tweets/{tweet.id}/")


@pytest.mark.parametrize("id", ["1", "99999999999999999999999"])
def test_an_untracked_tweet_is_404(staff, id):
    assert staff.get(f"/tweets/{id}/").status_code == 404


def test_a_person_pauses_resumes_and_checks_a_tweet(staff):
    tweet = watched(due_in=3000)

    staff.post(f"/tweets/{tweet.id}/check")
    assert TweetUpdate.objects.get(pk=tweet.id).due_at.timestamp() < epoch(3000)

    staff.post(f"/tweets/{tweet.id}/pause")
    assert Tweet.objects.get().paused
    assert not TweetUpdate.objects.exists()
    assert "Resume" in staff.get(f"/tweets/{tweet.id}/").content.decode()

    staff.post(f"/tweets/{tweet.id}/resume")
    assert not Tweet.objects.get().paused
    assert TweetUpdate.objects.get().pk == tweet.id


def test_untracking_a_tweet_deletes_its_history(staff):
    tweet = watched()
    measure(tweet, 0, likes=1)
    measure(tweet, 60, likes=2)

    asked = staff.post(f"/tweets/{tweet.id}/untrack")
    assert "Stop tracking this tweet and remove its whole history?" in asked.content.decode()
    assert Tweet.objects.exists()
    answer = staff.post(f"/tweets/{tweet.id}/untrack", {"sure": "yes"})

    assert answer.url == "/tweets/"
    assert not Tweet.objects.exists()
    assert history(tweet.id) == []


@pytest.mark.parametrize("act", ["check", "pause", "resume", "untrack"])
def test_an_act_needs_a_post_and_the_permission(client, act):
    tweet = TweetFactory()
    reader = User.objects.create_user("eve", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_tweet"))
    client.force_login(reader)

    assert client.get(f"/tweets/{tweet.id}/{act}").status_code == 405
    assert client.post(f"/tweets/{tweet.id}/{act}").status_code == 403
    assert Tweet.objects.filter(pk=tweet.id, paused=False).exists()
    assert "Untrack" not in client.get(f"/tweets/{tweet.id}/").content.decode()


def test_the_chosen_curves_stay_with_another_range(staff):
    tweet = watched()

    page = flat(staff.get(f"/tweets/{tweet.id}/?range=7d&metric=likes,quotes,nonsense"))
    usual = flat(staff.get(f"/tweets/{tweet.id}/"))

    assert drawn_metrics(page) == ["likes", "quotes"]
    assert '<a href="?range=24h&amp;metric=likes,quotes"' in page
    assert 'href="?range=7d&amp;metric=quotes"' in page, "a click takes one away"
    assert 'href="?range=7d&amp;metric=likes,quotes,bookmarks"' in page, "and adds one"
    assert drawn_metrics(usual) == ["views"]
    assert '<a href="?range=24h"' in usual


@pytest.mark.parametrize(("hours", "range"), [(1, "all"), (3, "day"), (23, "day"), (25, "all")])
def test_of_a_tweet_of_some_hours_the_first_day_is_drawn(staff, hours, range):
    tweet = watched()
    Tweet.objects.filter(pk=tweet.id).update(created_at=datetime.now(UTC) - timedelta(hours=hours))

    page = flat(staff.get(f"/tweets/{tweet.id}/?range=nonsense"))

    assert f'<a href="?range={range}" aria-current="true"' in page


@pytest.mark.parametrize(
    ("query", "is_log"),
    [
        ("", False),
        ("metric=views,likes", False),
        ("metric=views,quotes", True),
        ("metric=views,quotes&scale=linear", False),
        ("metric=views,bookmarks", False),
        ("metric=views,quotes&view=rate", False),
        ("scale=log", True),
    ],
)
def test_the_scale_is_logarithmic_where_the_counts_differ_a_hundredfold(staff, query, is_log):
    tweet = watched()
    measure(tweet, 60, views=5000, likes=60, quotes=50, bookmarks=0)

    page = flat(staff.get(f"/tweets/{tweet.id}/?{query}"))

    assert ('data-scale="log"' in page) == is_log


def test_a_first_metric_that_is_not_known_gives_way(staff):
    tweet = watched()
    measure(tweet, 60, views=None, likes=3)

    assert drawn_metrics(flat(staff.get(f"/tweets/{tweet.id}/"))) == ["likes"]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({}, "Not measured yet. The curve begins with the first check."),
        ({"gone_at": born(), "missing_since": born()}, "It was never measured: X no longer shows"),
    ],
)
def test_a_curve_that_is_not_there_says_why(staff, changed, sentence):
    assert sentence in flat(staff.get(f"/tweets/{watched(**changed).id}/"))


def test_a_long_text_is_folded(staff):
    long, short = watched(1, text="word " * 100), watched(2)

    assert 'class="said folded"' in flat(staff.get(f"/tweets/{long.id}/"))
    assert 'class="said folded"' not in flat(staff.get(f"/tweets/{short.id}/"))


def drawn_metrics(page):
    return re.search(r'data-metrics="([^"]*)"', page)[1].split()
