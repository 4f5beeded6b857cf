"""The page that compares tweets by age, as its address asks for."""

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext

from tests.factories import TweetFactory, figures, id_born
from tests.file_names import undated_name
from tests.pages.conftest import born, watched
from tests.pages.sources import source
from trackers.dashboards.compare.query import parse_compare_query
from trackers.ingest.sources.models import SourceTweet
from trackers.tweets.models import Author, Tweet, TweetText
from trackers.tweets.record import Measured, record

pytestmark = pytest.mark.django_db

M, H, D = (timedelta(**{unit: 1}) for unit in ("minutes", "hours", "days"))


def grown(number, counts, *, author_id=7, text="words"):
    """A tweet of some days ago with these views, by the minutes of its age."""
    Author.objects.get_or_create(id=author_id, defaults={"username": f"author{author_id}"})
    at = born() - (number + 10) * D
    tweet = TweetFactory(id=id_born(at, number), author_id=author_id, created_at=at)
    TweetText.objects.create(tweet=tweet, text=text)
    for minutes, views in counts.items():
        record([Measured(tweet.id, at + minutes * M, figures(1, views=views), D)])
    return tweet


# Often enough to say what it had at each age.
DAYLONG = (3, 5, 8, 15, 30, 60, 120, 240, 360, 720, 1440, 2880, 5760, 10_080)


def steady(number, views, **given):
    return grown(number, {minutes: views * minutes for minutes in DAYLONG}, **given)


def page_of(staff, query):
    answer = staff.get(f"/compare/?{query}")
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def cells(page):
    """Of each line of the table."""
    table = page[page.index('<table class="compared">') : page.index("</table>")]
    return [
        re.findall(r'<td class="figure"[^>]*>([^<]*)</td>', row)
        for row in table.split("</thead>")[1].split("</tr>")
    ][:-1]  # fmt: skip


def test_tweets_are_compared_at_the_same_ages(staff):
    first, other = steady(1, 10), steady(2, 30)

    page = page_of(staff, f"ids={first.id},{other.id}&until=7d")
    series = staff.get(f"/compare/series.json?ids={first.id},{other.id}&until=7d").json()

    assert cells(page) == [
        ["150", "600", "3,600", "14,400", "100,800"],
        ["450", "1,800", "10,800", "43,200", "302,400"],
    ]
    assert "7 d after posting, tweet 2 (@author7) had 302,400 views, the most" in page
    assert series["tweets"][0]["ages"][-1] == 7 * 24 * 60
    assert [line["tweet_id"] for line in series["tweets"]] == [str(first.id), str(other.id)]
    at = dict(zip(series["tweets"][1]["ages"], series["tweets"][1]["values"], strict=True))
    assert at[1440.0] == 43_200, "the chart says what the table says"


def test_a_curve_has_the_measurements_and_a_gap_without_them(staff):
    """Each minute for an hour, then nothing until two hours, at an age with a longer interval."""
    counts = {minute: 10 * minute for minute in range(1, 56)} | {120: 8_000, 121: 8_010}
    tweet = grown(1, counts)

    series = staff.get(f"/compare/series.json?ids={tweet.id}&author=7&until=6h").json()

    [curve] = series["tweets"]
    points = dict(zip(curve["ages"], curve["values"], strict=True))
    known = {age: value for age, value in points.items() if value is not None}
    assert known.items() <= {float(minute): value for minute, value in counts.items()}.items()
    [gap] = [age for age, value in points.items() if value is None]
    assert 55 < gap < 55.1


def test_extremes_are_said_where_all_are_known(staff):
    first, other, young = steady(1, 10), steady(2, 30), grown(3, {10: 1})

    two = page_of(staff, f"ids={first.id},{other.id}&until=7d")
    three = page_of(staff, f"ids={first.id},{other.id},{young.id}&until=7d")

    assert "the fewest" in two
    assert "the fewest" not in three


def test_an_age_without_measurements_has_no_number(staff):
    late, early = grown(1, {6000: 70, 12_000: 90}), grown(2, {10: 5, 20: 9, 40: 8})

    page = page_of(staff, f"ids={late.id}&ids={early.id}")

    # 7 d are 10,080 minutes; of 1 h nothing is known twenty minutes before it, and never again.
    assert cells(page) == [["–", "–", "–", "–", "84"], ["7", "–", "–", "–", "–"]]
    assert "It was not measured around this age." in page
    assert "Nothing can be compared yet" in page


def test_ages_beyond_a_young_tweet_say_so(staff):
    old, young = steady(1, 10), watched()
    record([Measured(young.id, born() + 5 * M, figures(3, views=50), H)])

    page = page_of(staff, f"ids={old.id},{young.id}")

    assert cells(page)[1] == ["–"] * 5
    assert page.count("It is not that old yet.") == 5


def test_the_last_tweets_of_an_author_are_a_band(staff):
    for number in range(1, 26):
        steady(number, number)
    one = steady(30, 100, author_id=8)

    page = page_of(staff, f"ids={one.id}&author=@AUTHOR7&metric=views")
    series = staff.get(f"/compare/series.json?ids={one.id}&author=7").json()

    # 1 to 25 a minute.
    assert cells(page)[1][3] == f"{13 * 1440:,}"
    assert cells(page)[2][3] == f"{7 * 1440:,} – {19 * 1440:,}"
    assert "the middle half of the last 25 tweets of @author7" in page
    assert 'value="@author7"' in page
    [band] = series["bands"]
    assert band["place"] == 2
    assert band["ages"][-1] == 1440
    assert (band["low"][-1], band["high"][-1]) == (7 * 1440, 19 * 1440)
    assert len(band["median"]) == len(band["ages"])


def test_the_last_tweets_of_a_source_are_a_band_of_their_own(staff):
    made = source("account", "nasa")
    for number in range(1, 12):
        SourceTweet.objects.create(
            source_id=made.pk, tweet_id=steady(number, number).pk, seen_at=born()
        )
    steady(19, 1000)

    page = page_of(staff, f"source={made.pk}")

    assert cells(page)[0][0] == "90"
    assert "7 d after posting, the middle half of the last 11 tweets of @nasa" in page


def test_of_fewer_than_ten_tweets_nothing_is_said(staff):
    for number in range(1, 10):
        steady(number, number)

    page = page_of(staff, "author=7")

    assert "Fewer than 10 of these tweets were measured around this age." in page
    assert cells(page)[0] == ["–"] * 5


def test_a_tweet_gone_before_its_first_check_is_not_shown_as_awaiting_it(staff):
    known, lost = steady(1, 1), watched(2)
    Tweet.objects.filter(pk=lost.pk).update(gone_at=born(), missing_since=born())

    page = page_of(staff, f"ids={known.id},{lost.id}")

    assert f"Tweet {lost.id} was never measured, and X no longer shows it." in page
    assert "after its first check" not in page


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("ids={known},abc", "“abc” is neither the id of a tweet nor a link to one."),
        ("ids={known},12345", "Tweet 12345 is not tracked here. Track it first, then compare it."),
        (
            "ids={known}",
            "There is nothing to compare this tweet with. Add another tweet, or an author.",
        ),
        ("ids={known}+{known}", "There is nothing to compare this tweet with"),
        ("ids={known},{unmeasured}", "was not measured yet. Compare it after its first check."),
        ("ids=1,2,3,4,5,6,7,{known}", "the last 2 are left out"),
        ("author=nobody", "No author called “nobody” is known here."),
        ("author=12", "No measured tweet of author 12 is tracked here."),
        ("source=12", "There is no source 12."),
        ("source=x", "“x” is not the number of a source."),
        ("ids=99999999999999999999", "“99999999999999999999” is neither"),
        ("ids=%00", "Nothing to compare yet"),
        ("metric=x&until=y", "Nothing to compare yet"),
    ],
)
def test_an_invalid_address_is_explained_with_the_next_step(staff, query, sentence):
    known, unmeasured = steady(1, 1), watched(2)
    query = query.format(known=known.id, unmeasured=unmeasured.id)

    assert sentence in page_of(staff, query)
    assert staff.get(f"/compare/series.json?{query}").status_code == 200


def test_links_and_blanks_are_accepted_and_the_address_is_normalised():
    fields = QueryDict(mutable=True)
    fields.setlist(
        "ids", ["https://x.com/a/status/20?s=1, 21", "22\nx.com/i/status/23/photo/1", "21"]
    )
    fields["scale"], fields["metric"] = "log", "likes"

    asked = parse_compare_query(fields)

    assert asked.ids == (20, 21, 22, 23)
    assert asked.address() == "ids=20,21,22,23&metric=likes&scale=log"
    assert parse_compare_query(QueryDict(asked.address())) == asked
    assert asked.without(21) == "ids=20,22,23&metric=likes&scale=log"


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_the_curves_are_a_file(staff, form):
    first, other = steady(1, 10), steady(2, 30)

    answer = staff.get(f"/compare/values.{form}?ids={first.id},{other.id}")
    text = b"".join(answer.streaming_content).decode()

    assert undated_name(answer) == f"compare-views.{form}"
    if form == "jsonl":
        lines = [json.loads(line) for line in text.splitlines()]
        assert {line["tweet_id"] for line in lines} == {str(first.id), str(other.id)}
        assert {"author", "band", "age_minutes", "measured_at", "views"} < lines[0].keys()
    else:
        assert text.startswith("tweet_id,author,band,age_minutes,measured_at,views\n")


def test_six_tweets_and_a_band_take_as_many_queries_as_two(staff):
    tweets = [steady(number, number) for number in range(1, 10)]
    ids = [str(one.id) for one in tweets]
    counts = []
    for some in (ids[:2], ids[:6]):
        with CaptureQueriesContext(connection) as asked:
            page_of(staff, f"ids={','.join(some)}&author=7")
        counts.append(len(asked))

    assert counts[0] == counts[1] <= 12
