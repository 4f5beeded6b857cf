"""The page at `/`, which the tweets had once: is everything fresh, and what is moving?"""

import html
import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import F
from django.utils.timezone import now

from tests import large_tables, plans
from tests.alerts.conftest import rule
from tests.factories import (
    CredentialFactory,
    IntervalFactory,
    TweetFactory,
    TweetUpdateFactory,
    id_born,
)
from tests.pages.conftest import flat, measure, watched
from tests.pages.sources import some_staff, source
from trackers.credentials.models import Window as Limits
from trackers.credentials.sentences import NONE_YET
from trackers.dashboards.notices import NO_WORKERS
from trackers.forecasts.hour import MINUTES_AHEAD, NOT_YET
from trackers.forecasts.models import ForecastHour, ForecastOfProject
from trackers.jobs import queue
from trackers.jobs.observed.models import NotedTask, QueueCounters, Worker
from trackers.jobs.pausing import pause_all
from trackers.jobs.statistics import MAX_COUNTED_KEYS
from trackers.money.models import Project
from trackers.schedule.models import Interval
from trackers.tasks import forecast_days
from trackers.tweets.gains.models import Gain, Window
from trackers.tweets.gains.places import store_places
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db
HX = {"HX-Request": "true"}
HOUR = timedelta(hours=1)


def words(page):
    """What is read on it."""
    text = html.unescape(re.sub(r"<[^>]+>", " ", page.content.decode()))
    return " ".join(text.split())


def read(staff, address="/?part=now"):
    return words(staff.get(address))


def worker():
    given = {"cluster": uuid4(), "host": "h", "pid": 4, "kind": "main"}
    return Worker.objects.create(**given, started_at=now(), seen_at=now())


def test_without_workers_the_overview_does_not_say_fresh(staff):
    TweetUpdateFactory(due_at=now() + HOUR)
    idle = "No tweet is late yet, but no worker is running."
    assert idle in read(staff)
    assert "Everything is fresh" not in read(staff)

    worker()
    assert "No tweet is late yet, but no credential is enabled." in read(staff)
    CredentialFactory()
    assert "Everything is fresh" in read(staff)
    pause_all(by="ada")
    assert "No tweet is late yet, but everything is paused." in read(staff)


def test_a_new_installation_has_a_list_of_first_steps(staff):
    page = read(staff)

    assert "Nothing to check" in page
    assert page.count("missing") == 3
    assert "A first measurement waits" in page
    # Two of the steps have no page to open.
    assert 'href=""' not in staff.get("/?part=now").content.decode()
    # Each once, and not as a notice as well.
    for sentence in (NONE_YET, NO_WORKERS):
        assert page.count(sentence.split("`")[0].strip()) == 1

    CredentialFactory()
    worker()
    source("account", "nasa")
    page = read(staff)
    assert page.count(" done") == 2 + page.count("are done")
    assert "A tweet to watch waits There is a source." in page
    assert "missing" not in page

    measure(watched(), 0, likes=1)
    assert "First steps" not in read(staff)


def test_in_the_first_week_the_overview_says_what_is_worth_doing_next(staff):
    measure(watched(), 0, likes=1)
    CredentialFactory()
    page = read(staff)
    for title in ("A budget", "An alert", "Somebody else"):
        assert title in page
    assert "X bills what is looked up; a budget bounds that." in page
    # The same figure as in the block of the project.
    tomorrow, project = now().date() + timedelta(days=1), Project.objects.get()
    ForecastOfProject.objects.create(day=tomorrow, project=project, expected=3_000.0)
    page = read(staff)
    assert "X bills what is looked up: $15.00 tomorrow, by the forecast; a budget bounds" in page
    assert "Tomorrow $15.00 for 3,000 tweet-days, by the forecast." in page

    Project.objects.update(posts_a_day=100)
    rule("velocity", metric="likes", at=10, to=["ada@here.example"])
    User.objects.create_user("bob")
    assert "What comes next" not in read(staff)

    Project.objects.update(posts_a_day=None)
    assert "What comes next" in read(staff)
    MigrationRecorder.Migration.objects.update(applied=now() - timedelta(days=8))
    assert "What comes next" not in read(staff)


def test_without_permission_a_first_step_has_no_link(client):
    page = some_staff(client, "view_tweet").get("/?part=now").content.decode()
    assert "There is no credential for X yet" in page
    assert "credential/add" not in page


@pytest.mark.parametrize(
    ("seconds", "mood", "title"),
    [(5, "good", "Everything is fresh"), (100, "warn", "1 min"), (4000, "bad", "1 h")],
)
def test_the_headline_is_how_long_the_most_overdue_tweet_waits(staff, seconds, mood, title):
    measure(watched(due_in=-seconds), 0, likes=1)
    worker()

    CredentialFactory()

    page = staff.get("/?part=now")

    assert f'class="headline {mood}"' in page.content.decode()
    assert title in words(page)
    assert "The most overdue tweet should have been checked" in words(page)


def test_a_released_check_is_overdue_since_it_was_first_due(staff):
    tweet = watched(due_in=600)
    measure(tweet, 0, likes=1)
    TweetUpdateFactory._meta.model.bucket.objects.update(due_since=now() - 2 * HOUR)

    assert re.search(r"(2 h|1 h 5. min) late", read(staff))


def test_the_cards_show_due_checked_late_and_failed_with_reasons(staff):
    TweetUpdateFactory.create_batch(3, due_at=now() - timedelta(seconds=2))
    late = [0] * (len(QueueCounters.LATENESS) + 1)
    late[2], late[8] = 90, 10
    QueueCounters.objects.create(
        queue="tweet:update", minute=now().replace(second=0, microsecond=0), host="h", pid=1,
        batches=2, asked=100, measured=100, failed=7, late=late,
    )  # fmt: skip
    NotedTask.objects.create(
        queue="tweet:update", name="a batch", took=HOUR, failed=True, reason="X answered 503.",
        pid=1,
    )  # fmt: skip

    page = read(staff)

    assert "Due now 3 of 3 tweets that have a next check. None is being checked." in page
    assert "Lateness 0.5 s / 10 s" in page
    assert (
        "Failed this hour 7 They are tried again. X answered 503. Checks that brought figures: 100"
    ) in page


def test_isolated_tweets_are_shown_while_there_are_any(staff):
    assert "Isolated" not in read(staff)
    TweetUpdateFactory(strikes=4)
    page = staff.get("/?part=now")
    assert "Isolated 1 set aside after" in words(page)
    assert 'href="/tweets/?state=isolated"' in page.content.decode()


def test_dead_workers_disabled_credentials_and_budgets_are_reported_once(staff):
    CredentialFactory(name="main").disable("disabled by ada", now=now())
    measure(watched(due_in=-600), 0, likes=1)
    Project.objects.update(posts_a_day=0, rationed_at=now(), waiting=12, needs=12, runs_dry_at=None)

    page = read(staff)

    assert page.count("Workers not running.") == 1
    assert page.count("disabled by ada") == 1
    assert "1 tweet is due, and there is no forecast. See above." in page
    assert "main disabled not used lately" in page
    assert page.count("It pays for nothing now: none of its credentials is enabled.") == 1


def test_while_tweets_wait_for_money_the_overview_does_not_say_fresh(staff):
    CredentialFactory(name="main")
    worker()
    measure(watched(due_in=600), 0, likes=1)
    Project.objects.update(posts_a_day=0, rationed_at=now(), waiting=12, needs=12, runs_dry_at=None)

    page = read(staff)

    assert page.count("Ran dry: about 12 tweets wait until 00:00 UTC, the oldest first.") == 1
    assert "About 12 tweets wait for tomorrow's budget" in page
    assert "Everything is fresh" not in page
    Project.objects.update(posts_a_day=100, runs_dry_at=now() + HOUR)
    assert "Everything is fresh" in read(staff)


def test_credentials_are_gauges_of_remaining_requests(staff):
    one = CredentialFactory(name="main")
    for endpoint, left in (("GET /2/tweets", 30), ("GET /2/users/:id/tweets", 800)):
        Limits.objects.create(
            app=one.app, endpoint=endpoint, limit=900, remaining=left,
            resets_at=now() + HOUR, seen_at=now(), learned_at=now(),
        )  # fmt: skip

    page = flat(staff.get("/?part=now"))

    assert '<meter min="0" max="900" value="30" aria-label="Requests left with main at GET' in page
    assert page.count('aria-label="Requests left') == 1, "the scarcest"
    Limits.objects.filter(endpoint="GET /2/tweets").update(limit=3500, remaining=1342)
    assert "1,342 of 3,500 left" in read(staff)


def test_money_and_credentials_need_their_permissions(client):
    page = some_staff(client, "view_tweet").get("/").content.decode()
    assert "credentials-title" not in page
    assert "money-title" not in page
    assert 'href="/operations/"' not in page


def test_the_next_hour_is_a_chart_with_a_table(staff):
    at = now()
    known, new = [0.0] * MINUTES_AHEAD, [0.5] * MINUTES_AHEAD
    known[2], known[20] = 4.0, 400.0
    ForecastHour.objects.create(pk=ForecastHour.ONLY, taken_at=at, known=known, new=new)

    page = staff.get("/?part=ahead")

    assert "about 434 checks, at most 400 in a minute" in words(page)
    assert "Lighter: about 30 checks of tweets that are expected to come." in words(page)
    assert f"{at + timedelta(minutes=20):%H:%M} UTC 400 0" in words(page)
    [table] = re.findall(r'id="ahead-table".*?</table>', page.content.decode(), re.S)
    assert len(re.findall(r"<td><time [^>]*>\d\d:\d\d", table)) in (59, 60)
    for part in ("value", "lighter"):
        assert f'class="{part}" d="M' in page.content.decode()


def test_the_next_hour_counts_each_check_of_a_tweet(staff):
    """Due in two minutes and then every minute: 58 or 59 checks, not one."""
    CredentialFactory()
    at = now()
    TweetFactory(id=id_born(at - timedelta(seconds=90)), measured=True)
    Interval.objects.all().delete()
    IntervalFactory(younger_than=timedelta(days=1), every=timedelta(minutes=1))
    queue.schedule("tweet:update", Tweet.objects.get().pk, timedelta(minutes=2))

    forecast_days()

    [checks] = re.findall(
        r"· (\d+) checks, at most 1 in a minute", words(staff.get("/?part=ahead"))
    )
    assert 56 <= int(checks) <= 60


def test_without_a_forecast_the_next_hour_says_why(staff):
    page = words(staff.get("/?part=ahead"))

    assert f"The next hour {NOT_YET}" in page
    assert "checks, at most" not in page


def fast(*gains, first=100, metric="views", window=Window.HOUR):
    """Tweets of one list, each with its gain."""
    made = []
    for number, gain in enumerate(gains, first):
        tweet = watched(number, text=f"Words of {number}")
        Gain.objects.create(
            tweet=tweet, minutes=window, metric=metric, gain=gain, velocity=gain,
            since=now() - timedelta(minutes=58), until=now(), again_at=now() + HOUR,
        )  # fmt: skip
        made.append(tweet)
    return made


def order(page):
    return [int(id) for id in re.findall(r'id="fast-(\d+)"', page.content.decode())]


def test_the_fastest_growing_tweets_are_listed_by_window_and_metric(staff):
    slow, quick = fast(5, 1234)
    [liked] = fast(7, first=200, metric="likes", window=Window.QUARTER)

    page = staff.get("/")
    assert order(page) == [quick.pk, slow.pk]
    assert "+1,234 in 58 min ≈ 1,234" in words(page)
    assert order(staff.get("/?window=15&metric=likes")) == [liked.pk]
    assert order(staff.get("/?part=fastest&window=15&metric=likes")) == [liked.pk]
    assert order(staff.get("/?window=nonsense&metric=%00")) == [quick.pk, slow.pk]
    assert "No tweet gained quotes in the last 24 hours" in read(
        staff, "/?window=1440&metric=quotes"
    )


def test_the_largest_gain_comes_first_and_a_rate_where_it_was_measured(staff):
    """A minute-old tweet with +90 is no faster than one with thousands in the hour."""
    large, young = fast(4000, 90)
    Gain.objects.filter(tweet=large).update(since=F("until") - HOUR)
    Gain.objects.filter(tweet=young).update(since=F("until") - timedelta(minutes=1), velocity=5400)

    page = staff.get("/")

    assert order(page) == [large.pk, young.pk]
    assert "+4,000 in 1 h 4,000" in words(page)
    assert "+90 in 1 min –" in words(page)
    by_rate = staff.get("/?window=60&metric=views&by=velocity")
    assert order(by_rate) == [young.pk, large.pk]
    assert "Ranked by views gained an hour" in words(by_rate)


def test_arrows_show_changes_of_rank_since_some_minutes_ago(staff):
    first, second, third = fast(30, 20, 10)
    start = now() - timedelta(minutes=12)
    store_places(now=start)
    assert "same place" not in read(staff, "/?part=fastest")

    Gain.objects.filter(tweet=third).update(gain=40)
    store_places(now=start + timedelta(minutes=2))
    store_places(now=start + timedelta(minutes=6))
    page = read(staff, "/?part=fastest")

    assert order(staff.get("/?part=fastest")) == [third.pk, first.pk, second.pk]
    assert "▲ up 2" in page
    assert page.count("▼ down 1") == 2
    assert f"since {start:%H:%M} UTC" in page


def test_the_page_of_the_fastest_lists_fifty_and_the_overview_ten(staff):
    fast(*range(1, 13))
    assert len(order(staff.get("/"))) == 10
    assert "Show the first 50" in read(staff, "/")
    assert (
        len(order(staff.get("/fastest/"))) == len(order(staff.get("/fastest/?part=fastest"))) == 12
    )


@pytest.mark.parametrize("address", ["/", "/fastest/", "/operations/"])
def test_the_wall_has_no_menu_and_keeps_refreshing(staff, address):
    page = staff.get(f"{address}?kiosk=1").content.decode()
    assert 'aria-label="Pages"' not in page
    assert "kiosk.css" in page
    assert "data-live" in page
    assert f'href="{address}">Menu</a>' in page
    assert 'hx-trigger="tick from:body' in page
    assert "kiosk.css" not in staff.get(address).content.decode()


@pytest.mark.parametrize("part", ["/?part=now", "/?part=ahead", "/?part=fastest"])
def test_an_idle_refresh_is_empty_and_no_part_is_large(staff, part):
    worker()
    CredentialFactory()
    measure(watched(due_in=1200), 0, likes=1)
    fast(3, 2, 1)

    first = staff.get(part, headers=HX)
    again = staff.get(part, headers={**HX, "If-None-Match": first.headers["ETag"]})

    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert len(first.content) < 9_000


def test_the_page_reads_as_many_rows_for_any_number_of_tweets(staff, monkeypatch):
    large_tables.fill(30_000)
    fast(3, 2, 1)

    with plans.watched(monkeypatch) as watch:
        page = staff.get("/")

    assert page.status_code == 200
    tables = (large_tables.TWEETS, large_tables.QUEUE, large_tables.BUCKETS)
    seen = [one for one in watch.reached if one.table in tables]
    assert len(seen) > 10
    # The planner's walk of a bucket's keys may go a bucket further.
    assert [one for one in seen if one.rows > MAX_COUNTED_KEYS + 100] == []
