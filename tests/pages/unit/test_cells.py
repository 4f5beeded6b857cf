"""What stands on a page by the hundred is written without a template, and holds no markup."""

from datetime import UTC, datetime, timedelta, timezone
from html.parser import HTMLParser

import pytest

from trackers.dashboards.charts.small import Sparkline
from trackers.dashboards.tweet_rows import Figure, figure_cell
from trackers.dashboards.words import Moment, ago, ahead, due

AT = datetime(2026, 11, 22, 12, 0, 5, tzinfo=UTC)
ODD = '<b a="1">&\''


class Tags(HTMLParser):
    """All tags with their attributes, and the text between them."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def test_a_time_is_utc_for_scripts_and_words_for_people():
    made = Tags(Moment(AT.astimezone(timezone(timedelta(hours=9))), ODD).html)

    expected = {
        "datetime": "2026-11-22T12:00:05+00:00",
        "data-relative": None,
        "title": "2026-11-22 12:00:05 UTC",
    }
    assert made.tags == [("time", expected)]
    assert made.text == ODD

    # Scripts say "now" of it once it has passed, and not "3 s ago".
    [(_, given)] = Tags(ahead(AT, now=AT - timedelta(seconds=3)).html).tags
    assert given.keys() >= {"data-ahead", "data-relative"}


def test_a_past_time_is_never_shown_as_future():
    past = Tags(ago(AT, now=AT - timedelta(seconds=1)).html)

    assert "data-past" in past.tags[0][1]
    assert "data-past" not in Tags(ahead(AT, now=AT).html).tags[0][1]


@pytest.mark.parametrize(
    ("seconds", "words"), [(5, "in 5 s"), (0, "now"), (-29, "now"), (-300, "due 5 min ago")]
)
def test_an_overdue_time_is_not_shown_as_due_now(seconds, words):
    assert due(AT + timedelta(seconds=seconds), now=AT).words == words


def test_a_cell_shows_a_metric_and_its_change():
    moved = Tags(figure_cell(Figure("likes", ODD, "1200", "1,200", ODD, falls=True), since=ODD))
    still = Tags(figure_cell(Figure("likes", "Likes", "", "–", "", falls=False), since=""))

    assert moved.tags == [
        ("td", {"class": "figure likes", "data-label": ODD, "data-metric": "likes"}),
        ("data", {"value": "1200"}),
        ("small", {"class": "delta falls", "title": ODD}),
    ]
    assert moved.text == f"1,200{ODD}"
    assert [tag for tag, _ in still.tags] == ["td", "data"]
    assert still.text == "–"


def test_a_curve_has_a_description():
    made = Tags(Sparkline(("3.0,27.0 117.0,3.0", "5.0,5.0"), ("117.0", "3.0"), ODD).html)

    assert [tag for tag, _ in made.tags] == ["svg", "title", "polyline", "polyline", "path"]
    assert made.tags[0][1]["aria-label"] == made.text == ODD


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (60, "60 d ago"),
        (61, "2026-09-23 (2 months ago)"),
        (729, "2024-11-24 (23 months ago)"),
        (7552, "2006-03-21 (20 years ago)"),
    ],
)
def test_a_time_long_ago_has_its_date(days, words):
    now = datetime(2026, 11, 23, 12, tzinfo=UTC)

    text = ago(now - timedelta(days=days), now=now)

    assert text.words == words
    # A date does not tick.
    assert ("data-relative" in text.html) == (days < 61)
