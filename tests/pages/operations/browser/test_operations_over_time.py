"""The slow parts of the page of operations: queues over time, what failed, and the database."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils.timezone import now

from tests.factories import TweetFactory, TweetUpdateFactory
from tests.pages.looking import looking
from tests.pages.sources import some_staff, words
from trackers.dashboards.operations.database import checks
from trackers.dashboards.operations.over_time import SPANS, bar_starts
from trackers.dashboards.words import format_bytes
from trackers.jobs.observed.database import Health, Horizon, PartitionsOf, Table
from trackers.jobs.observed.models import NotedTask, QueueHour, QueueMinute
from trackers.tweets.models import TweetText

pytestmark = pytest.mark.django_db
A_MINUTE = timedelta(minutes=1)


def minute(back, **given):
    values = {"queue": "tweet:update", "due": 0, "oldest_due_seconds": 0, "in_flight": 0}
    at = now().replace(second=0, microsecond=0) - back * A_MINUTE
    QueueMinute.objects.create(minute=at, **{**values, **given})


def test_an_empty_page_says_what_records_the_data(staff):
    page = words(staff.get("/operations/?part=over-time").content.decode())

    assert (
        "Nothing is recorded for this time. A running qcluster records a figure a minute." in page
    )
    page = words(staff.get("/operations/?part=workers").content.decode())
    assert "Failed and slow tasks None. A task is slow from 10 s on." in page


def test_a_queue_has_charts_and_a_table_of_the_same(staff):
    minute(5, due=1234, oldest_due_seconds=75.25, measured=4000, failed=3)
    minute(9, due=10, measured=0, failed=0)

    html = staff.get("/operations/?part=over-time").content.decode()

    page = words(html)
    assert "Due tweets · at most 1,234" in page
    assert "Longest overdue · at most 1 min" in page
    assert "Done per minute · at most 4,000" in page
    assert re.search(r"\d\d:\d\d( UTC)? 1,234 1 min 4,000 3", page)
    assert "source:poll · no work in this time" in page
    assert html.count('<svg class="bar-chart"') == 3
    # Of the minutes that nobody recorded, none is a bar.
    assert html.count('aria-label="Due tweets, tweet:update: at most 1,234"') == 1


def test_a_month_is_read_from_the_hours(staff):
    QueueHour.objects.create(
        queue="source:poll", hour=now() - timedelta(days=9), due=77, oldest_due_seconds=1,
        in_flight=0, measured=5,
    )  # fmt: skip

    page = words(staff.get("/operations/?part=over-time&over=month").content.decode())

    assert "Due polls · at most 77" in page
    assert "Done per 6 hours · at most 5" in page
    assert "Each bar is 6 hours" in page
    assert "Nothing is recorded" in staff.get("/operations/?part=over-time&over=x").content.decode()


@pytest.mark.parametrize("name", SPANS)
def test_bars_stand_at_the_times_of_the_database(name):
    """date_bin of PostgreSQL counts from the same epoch."""
    span, at = SPANS[name], datetime(2026, 3, 29, 1, 59, 59, tzinfo=UTC)

    starts = bar_starts(span, now=at)

    assert len(starts) == span.over // span.step + 1
    assert at - span.step < starts[-1] <= at
    assert all(int(one.timestamp()) % span.step.total_seconds() == 0 for one in starts)


def test_failed_and_slow_tasks_say_why(staff):
    fields = {"host": "h1", "pid": 4, "took": timedelta(seconds=12.25)}
    NotedTask.objects.create(
        queue="tweet:update", name="3 of tweet:update", keys=300, failed=True,
        reason="X answered 503 <b>", **fields,
    )  # fmt: skip
    NotedTask.objects.create(name="trackers.tasks.pack_samples", failed=False, **fields)

    page = staff.get("/operations/?part=workers").content.decode()

    text = words(page)
    assert re.search(
        r"(just now|ago) tweet:update 300 12 s failed X answered 503 &lt;b&gt; h1, pid 4", text
    )
    assert "pack_samples 12 s slow" in text


def test_isolated_tweets_are_named_with_a_link(staff):
    for key in range(5, 30):
        TweetUpdateFactory(key=key, strikes=4)
    TweetText.objects.create(tweet=TweetFactory(id=29), text="What it <says>")

    page = staff.get("/operations/?part=figures").content.decode()

    assert page.count('id="isolated-') == 20 + 1 + 1
    assert 'href="/tweets/29/"' in page
    assert "29 What it &lt;says&gt; 28" in words(page)
    assert "and more" in words(page)


def test_the_health_of_the_database_is_shown(staff):
    page = words(staff.get("/operations/?part=database").content.decode())

    # A verdict on dead rows is of what other tests left behind; that on numbers is not.
    for sentence in (
        "Oldest transaction", "Dead rows", "Transaction numbers 0% used fine", "WAL kept", "Size",
        "trackers_sample",
    ):  # fmt: skip
        assert sentence in page


AT = datetime(2026, 11, 23, 12, tzinfo=UTC)
HEALTHY = {
    "size": 5 * 2**30, "connections": 10, "connections_most": 100, "xid_age": 1000,
    "slot_behind": 0, "slot": None, "archiving_fails": False, "wal_most": 2**30,
    "version": "18.4 (Debian)", "tables": [], "partitions": [], "grows_a_day": 2.0**30,
}  # fmt: skip


def verdicts(oldest=0.0, **given):
    health = Health(**{**HEALTHY, **given})
    found = checks(health, Horizon(oldest, 7, "psql"), [1024, None], None, now=AT)
    return {one.label: (one.mood, one.value, one.advice) for one in found}


def test_a_healthy_database_gives_no_advice():
    advice = verdicts()

    assert {mood for mood, *_ in advice.values()} == {""}
    assert advice["Size"][1] == "5.0 GB, grows by 1.0 GB a day"
    assert advice["WAL written"][1] == "1.0 kB a minute"


@pytest.mark.parametrize(
    ("label", "given", "mood", "advice"),
    [
        ("Oldest transaction", {"oldest": 31.0}, "warn", "pg_terminate_backend(7)"),
        ("Oldest transaction", {"oldest": 301.0}, "bad", "pg_terminate_backend(7)"),
        (
            "Dead rows",
            {"tables": [Table("t", 1, 1, 1, live=10_000, dead=90_000, vacuumed_at=None)]},
            "bad",
            "VACUUM (ANALYZE) t",
        ),
        ("Connections", {"connections": 85}, "warn", "PgBouncer"),
        ("WAL kept", {"slot_behind": 5 * 2**30, "slot": "old"}, "bad", "drop the slot"),
        ("Archiving", {"archiving_fails": True}, "bad", "archive_command"),
        ("Transaction numbers", {"xid_age": 1_700_000_000}, "bad", "VACUUM (FREEZE)"),
        (
            "Partitions",
            {"partitions": [PartitionsOf("s", 3, "s_2026112200", "s_2026112300", 9, 9, None)]},
            "warn",
            "make_partitions",
        ),
        (
            "Partitions",
            {"partitions": [PartitionsOf("s", 0, None, None, 0, 0, None)]},
            "warn",
            "runs",
        ),
    ],
)
def test_each_bad_figure_of_the_database_gives_advice(label, given, mood, advice):
    found = verdicts(**given)[label]

    assert found[0] == mood
    assert advice in found[2]


def test_old_rows_of_an_import_give_no_alarm():
    made_ahead = PartitionsOf("s", 3, "s_2026112200", "s_2026112618", 9, 9, "s_default")

    assert verdicts(partitions=[made_ahead])["Partitions"][:2] == ("", "rows in s_default")


def test_sizes_are_shown_in_a_fitting_unit():
    assert [format_bytes(one) for one in (0, 1023, 1536, 3 * 2**40)] == [
        "0 bytes", "1,023 bytes", "1.5 kB", "3.0 TB",
    ]  # fmt: skip


def test_a_locked_table_leaves_the_page_as_it_is(staff, monkeypatch):
    monkeypatch.setattr("trackers.jobs.observed.database.HEALTH_TIMEOUT", timedelta(0))

    page = staff.get("/operations/?tab=database").content.decode()

    assert "Its figures took longer than two seconds" in page
    assert "Workers" in page


def test_charts_need_the_permission_of_the_page(client):
    bob = some_staff(client, "view_tweet")

    for address in ("/operations/?part=over-time", "/operations/?part=database"):
        assert bob.get(address).status_code == 403


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_person_opens_the_day_with_a_click(staff, live_server):
    for back in range(1, 300, 3):
        minute(back, due=back, measured=100 * back, oldest_due_seconds=back)
    with looking(staff, live_server, viewport={"width": 390, "height": 844}) as seen:
        seen.page.goto(f"{seen.address}/operations/?tab=queues")
        seen.follow("#over-day")
        seen.page.wait_for_selector("#over-day[aria-current]")
        seen.page.click("#sum-tweet-update")
        assert seen.page.locator("#table-tweet-update tbody tr").count() > 15
        wide = seen.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390
