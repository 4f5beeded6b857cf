"""The overview says what happened since a person was here."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.factories import TweetFactory, id_born
from tests.pages.conftest import flat, watched
from trackers.alerts.models import AlertNotice
from trackers.dashboards.models import OverviewVisit
from trackers.dashboards.overview import since as since_page
from trackers.dashboards.overview.visits import ABSENCE, begin_of_absence
from trackers.happenings.models import Happening

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
CARD = "/?part=since"


@pytest.mark.parametrize(
    ("away_since", "seen", "begins"),
    [
        (None, 5 * MINUTE, None),
        (None, ABSENCE, NOW - ABSENCE),
        (NOW - 9 * HOUR, 5 * MINUTE, NOW - 9 * HOUR),
        (NOW - 9 * HOUR, 2 * HOUR, NOW - 2 * HOUR),
    ],
)
def test_a_visit_begins_after_half_an_hour_of_absence(away_since, seen, begins):
    assert begin_of_absence(before=away_since, seen_at=NOW - seen, now=NOW) == begins


def last_seen(ago, away_since=None):
    seen_at = datetime.now(UTC) - ago
    OverviewVisit.objects.update(seen_at=seen_at, away_since=away_since)
    return seen_at


def happened(what, id, *, ago=MINUTE, **figures):
    Happening.objects.create(what=what, tweet_id=id, at=datetime.now(UTC) - ago, figures=figures)


def test_the_first_visit_shows_a_day_and_an_empty_card(staff):
    first = flat(staff.get("/"))
    assert "In the last 24 hours" in first
    assert "Nothing new" in first
    assert "In the last 24 hours" in flat(staff.get(CARD))


def test_a_person_sees_what_happened_since_the_visit_before(staff):
    staff.get("/")
    last_seen(2 * HOUR)
    tweet = watched(text="Version 4 is here")
    happened("milestone", tweet.pk, metric="likes", at=100, value=120)
    happened("milestone", tweet.pk, metric="views", at=1_000_000, value=1_200_000)
    happened("milestone", tweet.pk, ago=3 * HOUR, metric="views", at=9_000_000, value=1)
    happened("gone", 5, reason="not_found", views=48_200)
    happened("edited", tweet.pk, versions=2)
    happened("fell", tweet.pk, metric="likes", before=1000, after=400)
    for name in ("Takes off", "Takes off", ""):
        AlertNotice.objects.create(rule_name=name, at=datetime.now(UTC))

    for _again in range(2):
        card = flat(staff.get(CARD))
        for sentence in (
            "<strong>2</strong> passed a milestone", "the highest: @ada, 1,000,000 views",
            "<strong>1</strong> deleted or hidden", "tweet 5, not found, 48,200 views",
            "<strong>1</strong> edited", "2 versions, now “Version 4 is here”",
            "<strong>1</strong> lost counts", "likes from 1,000 to 400",
            "<strong>3</strong> alerts", "“Takes off” twice, “what is checked by itself” once",
            "<strong>1</strong> new tweet", "by 1 author; the newest: @ada",
        ):  # fmt: skip
            assert sentence in card


def test_a_visit_goes_on_while_a_person_looks(staff):
    staff.get("/")
    away = datetime.now(UTC) - 9 * HOUR
    last_seen(20 * MINUTE, away_since=away)
    staff.get("/")
    visit = OverviewVisit.objects.get()
    assert visit.away_since == away
    assert datetime.now(UTC) - visit.seen_at < 5 * MINUTE


def test_a_wall_is_nobodys_visit(staff):
    assert "since-title" not in flat(staff.get("/?kiosk=1"))
    assert not OverviewVisit.objects.exists()


def test_more_than_a_thousand_are_not_counted(staff, monkeypatch):
    monkeypatch.setattr(since_page, "MOST_COUNTED", 3)
    for count in range(5):
        happened("gone", count, reason="not_found", views=count)

    assert "<strong>3+</strong> deleted or hidden" in flat(staff.get(CARD))


def test_the_card_asks_as_often_however_much_there_is(staff):
    def queries():
        with CaptureQueriesContext(
            connection,
        ) as asked:
            assert staff.get(CARD).status_code == 200
        return len(asked)

    for kind in ("milestone", "gone"):
        happened(kind, watched(1).pk if kind == "gone" else 5, metric="likes", at=1, reason="x")
    queries()
    few = queries()
    for low in range(2, 30):
        happened("milestone", watched(low).pk, metric="likes", at=low, value=low)
    assert queries() == few


def test_each_line_leads_to_all_of_its_kind(staff):
    tweet = watched(text="Hello")
    happened("fell", tweet.pk, metric="likes", before=1000, after=400)
    happened("fell", 5, metric="views", before=1000, after=400)
    page = flat(staff.get("/happenings/?what=fell"))
    assert f'href="/tweets/{tweet.pk}/"' in page
    assert "likes from 1,000 to 400" in page
    assert 'href="/tweets/5/"' not in page
    since = datetime.now(UTC).isoformat().replace("+", "%2B")
    assert "Nothing of this kind" in flat(staff.get(f"/happenings/?what=fell&since={since}"))
    for odd in ("what=x", "what=fell&since=2026-02-30T00:00:00Z", "since=x", "what="):
        assert staff.get(f"/happenings/?{odd}").status_code in (200, 404)


def test_tweets_from_before_are_not_new(staff):
    staff.get("/")
    last_seen(HOUR)
    TweetFactory(id=id_born(datetime.now(UTC) - 2 * HOUR))

    assert "new tweet" not in flat(staff.get(CARD)).replace("Nothing new: no tweet", "")
