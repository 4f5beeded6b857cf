"""How a tweet does, on its page: the last hour, its author's usual, a day ahead, what happened."""

import json
from datetime import timedelta
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from tests.factories import TweetFactory, figures, id_born, post
from tests.pages.conftest import born, flat, measure, watched
from tests.scores.posts import usual_posts
from trackers import history
from trackers.milestones.models import Milestone
from trackers.notes.models import Note
from trackers.scores.benchmarks import make_benchmarks
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import Author, Tweet, TweetText
from trackers.tweets.record import Measured, record
from trackers.tweets.versions import SeenVersion, learn

M, H, D = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def page_of(staff, tweet, query=""):
    return unescape(flat(staff.get(f"/tweets/{tweet.id}/{query}")))


def earlier(number, *, author_id=7, every=30 * H, early=100, late=200, kind=PostKind.TEXT):
    """Tweets born earlier, with `early` views after five minutes and `late` after a day."""
    Author.objects.get_or_create(id=author_id, defaults={"username": f"author{author_id}"})
    made = []
    for place in range(number):
        at = born() - (place + 2) * every
        tweet = TweetFactory(id=id_born(at, author_id), author_id=author_id, created_at=at)
        TweetText.objects.create(tweet=tweet, text="words", kind=kind)
        for age, views in ((4 * M, early), (5 * M, early), (20 * H, late), (D, late)):
            counts = figures(views // 10, views=views)
            record([Measured(tweet.id, at + age, counts, D)])
        made.append(tweet)
    make_benchmarks([author_id], now=timezone.now())
    return made


def test_a_change_names_its_period(staff):
    tweet = watched()
    Tweet.objects.filter(pk=tweet.id).update(created_at=born() - 2 * H)
    for seconds, likes in ((-3660, 5), (-30, 100), (0, 120)):
        measure(tweet, seconds, likes=likes, views=7)

    page = page_of(staff, tweet)

    assert '<small class="delta">+115</small>' in page
    assert '<small class="delta same">no change</small>' in page
    since = born() - timedelta(seconds=3660)
    assert f'Changes in the last hour: measured at <time datetime="{since.isoformat()}"' in page
    assert f'and <time datetime="{born().isoformat()}"' in page


def test_a_change_over_another_period_than_an_hour_names_it(staff):
    tweet = watched()
    Tweet.objects.filter(pk=tweet.id).update(created_at=born() - 9 * H)
    measure(tweet, -4 * 3600, likes=5)
    measure(tweet, 0, likes=3)

    page = page_of(staff, tweet)

    assert '<small class="delta falls">−2</small>' in page
    assert "Changes over 4 h: measured at" in page


def test_a_projection_of_a_day_names_its_method_and_past_error(staff):
    earlier(17)
    tweet = watched()
    measure(tweet, 300, views=150)

    page = page_of(staff, tweet)

    assert "about 300 views, probably 300 to 300" in page
    assert "17 of the author's earlier posts grew from 5 min to 24 h" in page
    assert "tested on 7 of them" in page
    assert "half were off by less than 0%" in page


def test_a_projection_is_a_cone_from_now_to_the_end_of_the_day(staff):
    earlier(17)
    tweet = watched()
    measure(tweet, 300, views=150)

    series = staff.get(f"/tweets/{tweet.id}/series.json?range=day").json()
    cone = series["projection"]["views"]

    assert series["span"] == [born().timestamp(), (born() + D).timestamp()]
    assert (cone["times"][0], cone["low"][0], cone["high"][0]) == (series["times"][-1], 150, 150)
    assert cone["times"][-1] == pytest.approx(series["span"][1])
    assert cone["middle"][-1] == pytest.approx(300)
    assert cone["name"] == "expected: 300 at 24 h"
    assert staff.get(f"/tweets/{tweet.id}/series.json?range=all").json()["projection"] == {}


def test_strangers_never_stand_in_for_too_few_posts_of_the_author(staff):
    earlier(17, author_id=8, late=400)
    tweet = watched()
    measure(tweet, 300, views=150)

    page = page_of(staff, tweet)

    assert "A projection takes ten of the author's earlier posts" in page
    assert "about 600 views" not in page


def test_a_missing_projection_says_why(staff):
    tweet, unmeasured = watched(), watched(1)
    measure(tweet, 360, views=1)

    page = page_of(staff, tweet)
    assert page.count("Not enough yet") == 3
    assert "0 of the 10 posts of the author that it takes to say what is usual" in page
    assert "it has not been measured" in page_of(staff, unmeasured)


def test_after_a_day_the_measured_value_is_shown(staff):
    tweet = watched()
    Tweet.objects.filter(pk=tweet.id).update(created_at=born() - 2 * D)
    for hours, views in ((-47, 10), (-25, 80), (-1, 100)):
        measure(tweet, hours * 3600, views=views)

    page = page_of(staff, tweet)

    # A straight line from 80 after 23 h to 100 after 47 h.
    assert "81 views" in page
    assert "between the measurements before and after that age" in page
    assert "23 h for half of its 100 views so far" in page


def test_the_band_of_the_chart_is_of_earlier_posts_of_the_author(staff):
    made = earlier(12)
    TweetText.objects.filter(tweet__in=made[:2]).update(retweeted=1, kind=None)
    make_benchmarks([7], now=timezone.now())
    earlier(12, author_id=8, early=1)
    tweet = watched()
    measure(tweet, 300, views=150)

    series = staff.get(f"/tweets/{tweet.id}/series.json?range=day").json()

    usual = series["benchmark"]["views"]
    assert usual["times"][-1] == (born() + D).timestamp(), "to the end of the axis"
    assert (usual["low"][0], usual["middle"][0], usual["high"][0]) == (100, 100, 100)
    assert (usual["low"][-1], usual["high"][-1]) == (200, 200)
    # Without one of the ten, nothing is usual.
    TweetText.objects.filter(tweet=made[5]).update(retweeted=1, kind=None)
    make_benchmarks([7], now=timezone.now())
    assert staff.get(f"/tweets/{tweet.id}/series.json?range=day").json()["benchmark"] == {}


def test_the_band_is_of_posts_of_the_same_kind_if_there_are_enough(staff):
    earlier(12, early=100)
    earlier(10, early=300, late=900, kind=PostKind.PHOTO, every=31 * H)
    words, photo = watched(), watched(1)
    TweetText.objects.update_or_create(tweet=photo, defaults={"text": "x", "kind": PostKind.PHOTO})
    TweetText.objects.update_or_create(tweet=words, defaults={"text": "x", "kind": PostKind.QUOTE})
    for tweet in (words, photo):
        measure(tweet, 300, views=150)

    def usual(tweet):
        shade = staff.get(f"/tweets/{tweet.id}/series.json?range=day").json()["benchmark"]["views"]
        return shade["low"][0], shade["high"][0]

    assert usual(photo) == (300, 300)
    # Of 22 posts of all kinds: a quarter had less than 100, and a quarter more than 300.
    assert usual(words) == (100, 300)


def test_a_tweet_has_its_score_and_what_is_usual_for_each_metric(staff):
    usual_posts(7, 12, place=1, kind=PostKind.PHOTO, views=1000, likes=4)
    make_benchmarks([7], now=timezone.now())
    tweet = watched()
    TweetText.objects.filter(tweet=tweet).update(kind=PostKind.PHOTO)
    measure(tweet, 300, views=8400, likes=9)

    page = page_of(staff, tweet)

    assert '<span class="score far"' in page
    assert "8.4×" in page
    assert "usually 1,000" in page
    assert "12 photos" in page
    assert "as usual" in page, "four likes are too little to be divided by"


def test_events_of_a_tweet_are_listed_and_marked_on_the_curve(staff):
    tweet = watched(tracked_at=born() + timedelta(seconds=1), text="hopefuly")
    Milestone.objects.create(metric="likes", at=7)
    for seconds, likes in ((60, 5), (120, 9), (180, 3), (240, 8)):
        measure(tweet, seconds, likes=likes)
    second = tweet.id + 5
    edited = post(second, text="hopefully")._replace(edit_history=(tweet.id, second))
    learn([SeenVersion(edited, born() + timedelta(seconds=200))])
    history.record(history.on_page(User.objects.get()), [tweet], "Paused")
    other = watched(9)
    history.record(history.on_page(User.objects.get()), [other], "Untouched")

    page = page_of(staff, tweet)
    marks = staff.get(f"/tweets/{tweet.id}/series.json").json()["marks"]

    text = page[page.index('id="happened"') :]
    order = ["Posted on X", "Tracked from here on", "Reached 7 likes",
             "Edited: this version was first seen", "Paused, on a page."]  # fmt: skip
    places = [text.index(what) for what in order]
    assert places == sorted(places)
    assert text.count("Reached 7 likes") == 1
    assert "Untouched" not in text
    assert "marks on the curve" in text
    assert [one["number"] for one in marks] == [1, 2, 3, 4, 5]
    assert marks[2]["at"] == (born() + timedelta(seconds=120)).timestamp()


def test_an_anomaly_of_a_curve_is_listed_and_marked(staff):
    tweet = watched()
    Tweet.objects.filter(pk=tweet.id).update(created_at=born() - 5 * H)
    for hours, views in ((-5, 0), (-4, 1000), (-3, 1400), (-2, 1490), (-1, 2390)):
        measure(tweet, hours * 3600, views=views, likes=50 if hours < -1 else 30)

    page = page_of(staff, tweet, "?range=all")

    assert "Second wave: 900 views in an hour, after 90 in the one before" in page
    assert "Likes fell from 50 to 30" in page


def test_notes_on_a_tweet_and_on_its_day_are_marked_on_the_curve(staff, client):
    tweet = watched()
    measure(tweet, 60, views=5)
    write_note("tweet", str(tweet.id), "in the evening news", at=born() + timedelta(seconds=30))
    write_note("tweet", "5", "about another")

    marks = staff.get(f"/tweets/{tweet.id}/series.json").json()["marks"]
    picture = staff.get(f"/tweets/{tweet.id}/chart.svg").content.decode()

    notes = [one for one in marks if not one["number"]]
    assert notes == [
        {
            "at": (born() + timedelta(seconds=30)).timestamp(),
            "number": 0,
            "name": "Note: in the evening news",
        }
    ]
    assert "Note: in the evening news" in picture


def write_note(kind, key, text, **given):
    Note.objects.create(kind=kind, key=key, text=text, **({"at": born()} | given))


def test_metrics_that_x_never_showed_are_not_called_missing(staff):
    page = page_of(staff, watched(missing_since=born(), missing_reason="protected"))

    assert "X did not show it" in page
    assert "marks on the curve" not in page


@pytest.mark.parametrize(
    ("view", "sentence", "head", "visible"),
    [
        ("rate", "Likes grew fastest", "<th scope=\"col\">Until</th>", "+120"),
        ("days", "Likes grew most on", "<th scope=\"col\">Day</th>", "+9"),
    ],
)  # fmt: skip
def test_each_view_has_a_sentence_a_table_and_files(staff, view, sentence, head, visible):
    tweet = watched()
    for minutes, likes in ((0, 1), (2, 5), (4, 9)):
        measure(tweet, 60 * minutes, likes=likes)

    page = page_of(staff, tweet, f"?view={view}&range=nonsense")
    series = staff.get(f"/tweets/{tweet.id}/series.json?view={view}").json()
    file = staff.get(f"/tweets/{tweet.id}/samples.jsonl?range=all&view={view}")
    lines = [json.loads(line) for line in b"".join(file.streaming_content).splitlines()]

    assert sentence in page
    assert head in page
    assert f'<td class="figure">{visible}</td>' in page
    assert {value for value in series["series"]["likes"] if value} == {int(visible[1:])}
    assert len(series["times"]) == len(series["series"]["likes"])
    assert {line["likes"] for line in lines} <= {int(visible[1:]), 9}
    assert f"samples.parquet?view={view}" in page


def test_view_and_scale_are_kept_in_links(staff):
    page = flat(staff.get(f"/tweets/{watched().id}/?view=rate&scale=log&range=7d"))

    assert '<a href="?range=24h&amp;view=rate&amp;scale=log"' in page
    assert '<a href="?range=7d&amp;view=days&amp;scale=log"' in page
    assert '<a href="?range=7d&amp;view=rate&amp;scale=linear" aria-current="true"' in page


@pytest.mark.parametrize("points", ["", "0", "-5", "1e9", "９９", "99999999999"])
def test_any_number_of_points_may_be_asked_for(staff, points):
    tweet = watched()
    measure(tweet, 0, likes=1)

    answer = staff.get(f"/tweets/{tweet.id}/series.json?points={points}")

    assert answer.json()["drawn"] == 1
