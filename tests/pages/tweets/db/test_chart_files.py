"""A chart as a file, from its own address: a picture or a table, and nothing where it is known."""

from xml.etree import ElementTree

import pytest
from django.contrib.auth.models import User

from tests.pages.conftest import flat, measure, watched
from tests.pages.tweets.large.test_compare import steady
from trackers.tokens.models import TimeFormat

TEXT = "{http://www.w3.org/2000/svg}text"


@pytest.fixture(params=["tweet", "comparison"])
def chart(request, staff):
    """The address of a chart, without the ending and the query."""
    if request.param == "comparison":
        return "/compare/chart", f"ids={steady(1, 1).pk},{steady(2, 2).pk}"
    tweet = watched(username="ada")
    for minute in range(5):
        measure(tweet, 60 * minute, views=100 * minute)
    return f"/tweets/{tweet.pk}/chart", ""


def words(answer):
    return [one.text for one in ElementTree.fromstring(answer.content).iter(TEXT)]


def test_a_chart_is_a_picture_or_a_table(staff, chart):
    address, query = chart

    svg = staff.get(f"{address}.svg?{query}")
    png = staff.get(f"{address}.png?{query}")
    csv = staff.get(f"{address}.csv?{query}")

    assert svg["Content-Type"] == "image/svg+xml"
    assert any("views" in word.lower() for word in words(svg))
    assert png["Content-Type"] == "image/png"
    assert png.content[:8] == b"\x89PNG\r\n\x1a\n"
    # Twice as many dots as the SVG has units.
    assert int.from_bytes(png.content[16:20]) == 2 * 960
    assert b"views" in b"".join(csv.streaming_content)
    assert staff.get(f"{address}.gif?{query}").status_code == 404


def test_a_known_picture_is_not_sent_again(staff, chart):
    address, query = chart
    for form in ("svg", "png"):
        etag = staff.get(f"{address}.{form}?{query}")["ETag"]

        again = staff.get(f"{address}.{form}?{query}", headers={"If-None-Match": etag})
        other = staff.get(f"{address}.{form}?{query}&width=400", headers={"If-None-Match": etag})

        assert (again.status_code, again.content) == (304, b"")
        assert again["ETag"] == etag
        assert other.status_code == 200


def test_a_page_without_scripts_shows_the_picture(staff, chart):
    address, query = chart
    page = flat(staff.get(f"{address.removesuffix('chart')}?{query}"))

    assert f'<noscript><picture><source media="(max-width: 760px)" srcset="{address}.svg?' in page
    assert f'<a href="{address}.png?' in page


@pytest.mark.parametrize("width", ["", "0", "-5", "1e9", "９９", "99999999999"])
def test_any_width_may_be_asked_for(staff, chart, width):
    address, query = chart

    answer = staff.get(f"{address}.svg?{query}&width={width}")

    assert 320 <= int(ElementTree.fromstring(answer.content).get("width")) <= 1600


def test_times_are_those_of_the_reader(staff):
    TimeFormat.objects.create(user=User.objects.get(), zone="Asia/Kathmandu", dates="dmy", hours=12)
    tweet = watched()
    measure(tweet, 0, views=1)

    names = words(staff.get(f"/tweets/{tweet.pk}/chart.svg"))

    assert "UTC+5:45" in names
    assert any(name.endswith((" AM", " PM")) for name in names)


def test_a_tweet_without_measurements_has_an_empty_chart(staff):
    tweet = watched()

    assert staff.get(f"/tweets/{tweet.pk}/chart.svg").status_code == 200
    assert staff.get(f"/tweets/{tweet.pk}/chart.png").status_code == 200
