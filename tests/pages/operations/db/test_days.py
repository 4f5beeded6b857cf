"""Look-ups and tweet-days by the day, and the stretch: on pages and in figures."""

import html
import io
import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.core.management import call_command

from tests.factories import AppFactory, ProjectFactory
from trackers.dashboards.days_table import NOT_STRETCHED
from trackers.forecasts.models import ForecastDay, ForecastOfProject
from trackers.forecasts.stored import NOT_YET
from trackers.money.models import Spending
from trackers.schedule.models import Interval, Stretch, StretchMinute
from trackers.schedule.stretch.words import ALL_FIXED

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
KEY = "a-key-of-twenty-letters"


@pytest.fixture
def now():
    return datetime.now(UTC)


def days(now):
    """Three days as a cluster keeps them."""
    today = now.date()
    fields = {"expected_at": now, "counted_at": now}
    ForecastDay.objects.create(
        day=today, lookups=12_345, tweet_days=2_003, expected_lookups=20_100.4,
        expected_tweet_days=2_950.0, **fields,
    )  # fmt: skip
    ForecastDay.objects.create(
        day=today + DAY, expected_lookups=21_000.0, expected_tweet_days=3_000.0, expected_at=now
    )
    ForecastDay.objects.create(
        day=today - DAY, known_lookups=6_000.0, new_lookups=14_000.0, known_days=2_500.0,
        new_days=400.0, lookups=19_600, tweet_days=2_900, **fields,
    )  # fmt: skip
    project = AppFactory(project=ProjectFactory(name="acme")).project
    ForecastOfProject.objects.create(day=today, project=project, tweet_days=2_003, expected=2_950)
    ForecastOfProject.objects.create(
        day=today - DAY, project=project, tweet_days=2_900, foreseen=2_800
    )


def stretched(now, **given):
    Interval.objects.filter(younger_than=DAY).update(accuracy=0.05, at_most=MINUTE, at_least=HOUR)
    row = {"windows": 1.4, "money": 1.0, "room": 10.0, "demand": 12.0, **given}
    Stretch.objects.create(pk=Stretch.ONLY, taken_at=now, **row)
    StretchMinute.objects.create(minute=now - 2 * HOUR, windows=1.8, money=1.0)


def words(page):
    assert page.status_code == 200
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.content.decode())).split())


def status_text(*flags):
    out = io.StringIO()
    call_command("status", *flags, stdout=out)
    return out.getvalue()


@pytest.fixture
def scraped(client, settings):
    settings.METRICS_KEY = KEY
    page = lambda: client.get("/metrics", headers={"Authorization": f"Bearer {KEY}"})  # noqa: E731
    return lambda: [line for line in page().content.decode().splitlines() if line[0] != "#"]


@pytest.mark.parametrize("address", ["/", "/?part=ahead", "/operations/", "/operations/?part=days"])
def test_the_page_shows_the_days_and_the_stretch_with_its_reason(staff, now, address):
    days(now)
    stretched(now)

    seen = words(staff.get(address))

    assert "Today so far 12,345 2,003" in seen
    assert "Today by midnight 20,100 2,950" in seen
    assert "Tomorrow 21,000 3,000" in seen
    assert "Yesterday, forecast 20,000 2,900" in seen
    assert "Yesterday, actual 19,600 −2% 2,900 as forecast" in seen
    assert "Waits are 1.4 × as long, since X's windows have room for 71% of the look-ups." in seen
    assert "Accuracy: 5% asked, 7% at this stretch." in seen
    assert "Highest in the last 24 hours: 1.8 × for X's windows" in seen


def test_a_guess_has_two_digits_and_says_so(staff, now):
    days(now)
    ForecastDay.objects.filter(day=now.date()).update(is_guess=True, expected_lookups=208_043.4)

    seen = words(staff.get("/?part=ahead"))

    assert "Today by midnight first day: a guess about 210,000 about 3,000" in seen
    assert "Tomorrow 21,000 3,000" in seen


def test_operations_show_each_project_with_its_money(staff, now):
    days(now)

    seen = words(staff.get("/operations/?part=days"))

    assert f"acme 2,003 2,950 ${Decimal('14.75'):,.2f} – 2,800 2,900" in seen


def test_dollars_by_midnight_are_no_less_than_those_of_now(staff, now):
    """Accounts and counts of searches cost as well as tweet-days."""
    days(now)
    project = ForecastOfProject.objects.filter(day=now.date()).get().project
    Spending.objects.create(project=project, day=now.date(), posts=2_003, users=200, counts=10,
                            money=Decimal("12.065"))  # fmt: skip

    seen = words(staff.get("/operations/?part=days"))

    # 2,950 tweet-days, 200 accounts at a cent and 10 counts at half a cent.
    assert "acme 2,003 2,950 $16.80 " in seen


@pytest.mark.parametrize("address", ["/?part=now", "/operations/"])
def test_money_says_what_tomorrow_costs_by_the_forecast(staff, now, address):
    days(now)
    assert "by the forecast" not in words(staff.get(address))
    project = ForecastOfProject.objects.filter(day=now.date()).get().project
    ForecastOfProject.objects.create(day=now.date() + DAY, project=project, expected=3_000)

    seen = words(staff.get(address))

    assert "Tomorrow $15.00 for 3,000 tweet-days, by the forecast." in seen
    ForecastOfProject.objects.filter(day=now.date() + DAY).update(unlimited=4_100)
    assert "by the forecast; without budgets it would be 4,100." in words(staff.get(address))


@pytest.mark.parametrize("address", ["/?part=ahead", "/operations/?part=days"])
def test_an_unknown_forecast_is_not_shown_as_0(staff, now, address):
    seen = words(staff.get(address))

    assert NOT_YET in seen
    assert "Today so far – –" in seen
    assert "Today by midnight – –" in seen
    assert ALL_FIXED in seen
    assert "24 hours" not in seen


def test_the_reason_for_no_forecast_is_shown(staff, now):
    ForecastDay.objects.create(
        day=now.date(), counted_at=now, expected_at=now, lookups=5, tweet_days=5, why="Because."
    )

    seen = words(staff.get("/?part=ahead"))

    assert "Because." in seen
    assert "Today so far 5 5 Today by midnight – –" in seen


def test_a_day_without_a_stretch_is_one_line(staff, now):
    stretched(now, windows=1.0)
    StretchMinute.objects.update(windows=1.0)

    assert NOT_STRETCHED in words(staff.get("/operations/?part=days"))


def test_statistics_of_an_ended_cluster_are_shown_with_their_age(staff, now):
    days(now)
    ForecastDay.objects.filter(day=now.date()).update(counted_at=now - 20 * MINUTE)

    assert re.search(r"Counted \d+ min ago", words(staff.get("/?part=ahead")))


def test_status_has_the_same_forecast(now):
    days(now)
    stretched(now)

    report = json.loads(status_text("--json"))

    assert report["days"]["today"] == {
        "lookups": 12_345, "tweet_days": 2_003,
        "expected_lookups": 20_100, "expected_tweet_days": 2_950,
    }  # fmt: skip
    assert report["days"]["yesterday"] == {
        "lookups": 19_600, "tweet_days": 2_900,
        "forecast_lookups": 20_000, "forecast_tweet_days": 2_900,
    }  # fmt: skip
    assert report["days"]["projects"] == [
        {
            "name": "acme", "tweet_days": 2_003, "expected_today": 2_950,
            "expected_tomorrow": None, "forecast_yesterday": 2_800, "yesterday": 2_900,
        }
    ]  # fmt: skip
    assert report["stretch"]["windows"] == 1.4
    assert report["stretch"]["most_windows_day"] == 1.8
    assert report["stretch"]["accuracy_now"] == pytest.approx(0.07)
    lines = status_text()
    assert "Today        12,345 look-ups and 2,003 tweet-days, expected: 20,100 look-ups" in lines
    assert "Yesterday    19,600 look-ups and 2,900 tweet-days, forecast: 20,000 look-ups" in lines
    assert "Stretch      Waits are 1.4 × as long" in lines


def test_status_says_what_is_unknown(now):
    report = json.loads(status_text("--json"))

    assert report["days"]["why"] == NOT_YET
    assert report["days"]["today"]["expected_lookups"] is None
    assert (report["stretch"]["windows"], report["stretch"]["why"]) == (None, [ALL_FIXED])
    assert "Today        not known" in status_text()


def test_prometheus_gets_the_same_forecast(scraped, now):
    days(now)
    stretched(now)

    report = scraped()

    assert 'tweetwatch_lookups{day="today",kind="expected"} 20100.4' in report
    assert 'tweetwatch_lookups{day="yesterday",kind="forecast"} 20000.0' in report
    assert 'tweetwatch_tweet_days{day="tomorrow",kind="expected"} 3000.0' in report
    assert 'tweetwatch_stretch_ratio{for="windows"} 1.4' in report
    assert 'tweetwatch_accuracy_ratio{kind="asked"} 0.05' in report


def test_prometheus_gets_no_unknown_values(scraped):
    assert not [line for line in scraped() if line.startswith("tweetwatch_lookups")]
