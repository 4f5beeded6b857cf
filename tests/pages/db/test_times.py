"""Each person reads times in their own zone and order; programs, files and other people do not."""

import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.api.conftest import Program
from tests.events.conftest import subscriber
from tests.factories import TweetFactory
from tests.pages.conftest import born, flat, measure, watched
from trackers.tokens.models import TimeFormat
from trackers.tweets.snowflake import first_id_at
from tweetwatch import notation

NEPAL = {"zone": "Asia/Kathmandu", "dates": "dmy", "hours": "12"}
AHEAD = timedelta(hours=5, minutes=45)


@pytest.fixture
def nepal(staff):
    """The person has chosen, by the form without its script."""
    assert staff.post("/account/times/", NEPAL).headers["Location"] == "/account/"
    return staff


def tweet_page(client, tweet):
    return flat(client.get(f"/tweets/{tweet.pk}/"))


def measured_tweet():
    tweet = watched()
    measure(tweet, 60, likes=3)
    return tweet


def test_a_page_shows_times_in_the_zone_and_the_order_of_its_reader(staff):
    tweet = measured_tweet()
    assert f'title="{born():%Y-%m-%d %H:%M:%S} UTC"' in tweet_page(staff, tweet)

    staff.post("/account/times/", NEPAL)

    page = tweet_page(staff, tweet)
    utc = f"{born():%Y-%m-%d %H:%M:%S} UTC"
    assert f'title="{born() + AHEAD:%-d %b %Y %-I:%M:%S %p} UTC+5:45 = {utc}"' in page
    assert f'title="{utc}"' not in page
    assert f'<time datetime="{born().isoformat()}"' in page, "for scripts it stays the same"
    assert 'data-zone="Asia/Kathmandu" data-dates="dmy" data-hours="12"' in page
    assert LogEntry.objects.get().change_message == "Reads times in Asia/Kathmandu, on a page."


def test_a_choice_is_shown_and_can_be_changed(nepal):
    page = flat(nepal.get("/account/times/"))
    assert '<option value="Asia/Kathmandu" selected>Kathmandu</option>' in page
    assert "Times are shown in <strong>Asia/Kathmandu</strong>" in flat(nepal.get("/account/"))

    nepal.post("/account/times/", {**NEPAL, "zone": "UTC", "hours": "24", "next": "/alerts/"})

    assert TimeFormat.objects.get().zone == "UTC"
    assert re.search(
        r"<strong>UTC</strong>, now <time [^>]*>\d+ \w{3} \d{4} \d\d:\d\d UTC</time>\.",
        flat(nepal.get("/account/")),
    )


def test_the_proposal_of_the_browser_is_asked_for_once(staff):
    assert 'id="propose-times"' in flat(staff.get("/alerts/"))
    assert 'id="propose-times"' not in flat(staff.get("/operations/?kiosk=1"))

    answer = staff.post("/account/times/", {**NEPAL, "next": "/alerts/?x=1"})

    assert answer.headers["Location"] == "/alerts/?x=1"
    assert 'id="propose-times"' not in flat(staff.get("/alerts/"))


def test_the_address_of_a_proposal_fills_the_form(staff):
    page = flat(staff.get("/account/times/?zone=Asia/Calcutta&dates=mdy&hours=12"))

    assert '<option value="Asia/Calcutta" selected>Calcutta</option>' in page
    assert '<option value="mdy" selected>' in page
    page = flat(staff.get("/account/times/?zone=Etc/GMT-5&dates=mdy&hours=12"))
    assert '<option value="Etc/GMT-5" selected>Etc/GMT-5</option>' in page
    assert not TimeFormat.objects.exists()


@pytest.mark.parametrize("zone", ["", "Nowhere/City", "../../etc/passwd", "posixrules", "x" * 99])
def test_an_unknown_zone_is_refused(staff, zone):
    page = staff.post("/account/times/", {**NEPAL, "zone": zone})

    assert page.status_code == 200
    assert 'class="fault"' in flat(page)
    assert not TimeFormat.objects.exists()
    assert 'value="UTC" selected' in flat(staff.get(f"/account/times/?zone={zone}"))


def test_the_form_leads_to_no_other_site(staff):
    answer = staff.post("/account/times/", {**NEPAL, "next": "https://evil.example/"})

    assert answer.headers["Location"] == "/account/"


def test_a_zone_that_this_machine_has_lost_is_utc(nepal):
    TimeFormat.objects.update(zone="Gone/City")

    page = flat(nepal.get("/account/"))
    assert re.search(r"now <time [^>]*>\d+ \w{3} \d{4} \d+:\d\d [AP]M UTC</time>", page)


def test_the_zone_lasts_for_its_request_alone(nepal):
    nepal.get("/tweets/999999/")
    nepal.get("/account/")

    assert timezone.get_current_timezone_name() == "UTC"
    at = datetime(2026, 3, 4, 18, 5, tzinfo=UTC)
    assert notation.to_the_minute(at) == "2026-03-04 18:05 UTC"
    other = Client()
    other.force_login(User.objects.create_superuser("bob"))
    assert "UTC+5:45" not in tweet_page(other, measured_tweet())


def test_a_part_is_sent_again_once_its_times_are_written_in_another_way(staff):
    """What is the same but for a title would be 304, and keep the times of before."""
    address = f"/tweets/{measured_tweet().pk}/?part=now"

    def ask(**headers):
        return staff.get(address, headers={"HX-Request": "true", **headers})

    tag = ask().headers["ETag"]
    assert ask(if_none_match=tag).status_code == 304

    staff.post("/account/times/", NEPAL)

    assert ask(if_none_match=tag).status_code == 200


def test_the_choice_takes_no_statement_of_its_own(nepal):
    with CaptureQueriesContext(connection) as made:
        nepal.get("/account/times/")

    of_choice = [one["sql"] for one in made if "trackers_timeformat" in one["sql"]]
    assert len(of_choice) == 1
    assert "auth_user" in of_choice[0]


def test_files_and_the_api_stay_with_utc(nepal):
    tweet, me = measured_tweet(), User.objects.get()
    time = f"{born():%Y-%m-%dT%H:%M:%S}"
    program = Program(nepal, me)

    files = [
        b"".join(nepal.get(f"/tweets/{path}")).decode()
        for path in ("export.csv", "export.jsonl", f"{tweet.pk}/samples.csv")
    ]

    assert all(time in text for text in files[:2])
    assert "+05:45" not in "".join(files)
    assert program.ask("GET", f"tweets/{tweet.pk}")["created_at"].startswith(time)


def test_a_period_is_typed_and_named_in_the_zone_of_its_reader(nepal):
    shop = subscriber("shop")
    address = f"/subscribers/{shop.pk}/replay/"
    noon = datetime.now(UTC).replace(hour=12, minute=0) - timedelta(days=1)
    typed = f"{noon + AHEAD:%Y-%m-%dT%H:%M}"

    page = flat(nepal.get(address, {"since": typed}))

    assert "From, Asia/Kathmandu</label>" in page
    assert f'name="since" value="{typed}"' in page


def test_the_admin_writes_times_in_the_zone_of_its_reader(nepal):
    User.objects.update(last_login=datetime(2026, 3, 4, 18, 5, 9, tzinfo=UTC))

    assert "2026-03-04 23:50:09 +0545" in flat(nepal.get("/admin/auth/user/"))


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("America/St_Johns", "2026-03-08", 23),
        ("America/St_Johns", "2026-11-01", 25),
        ("Asia/Kathmandu", "2026-03-08", 24),
        ("UTC", "2026-03-08", 24),
    ],
)
def test_the_days_of_a_filter_are_those_of_its_reader(staff, zone, day, hours):
    """Also on the days on which the clock is put forward and back."""
    begins = datetime.combine(date.fromisoformat(day), time(), ZoneInfo(zone)).astimezone(UTC)
    over = begins + timedelta(hours=hours)
    minute = timedelta(minutes=1)
    of_times = {
        posted_at(at): name
        for at, name in (
            (begins - minute, "before"),
            (begins, "first"),
            (over - minute, "last"),
            (over, "after"),
        )
    }
    staff.post("/account/times/", {**NEPAL, "zone": zone})

    page = flat(staff.get("/tweets/", {"since": day, "until": day}))

    assert {name for id, name in of_times.items() if f'/tweets/{id}/"' in page} == {"first", "last"}
    assert f"Posted from, {zone}<input" in page


def posted_at(at):
    tweet = TweetFactory(id=first_id_at(int(at.timestamp() * 1000)), created_at=at)
    return tweet.pk


def test_every_time_says_what_it_is_in_utc(nepal):
    page = tweet_page(nepal, measured_tweet())

    utc = f"{born():%Y-%m-%d %H:%M:%S} UTC"
    assert f'UTC+5:45 = {utc}"' in page
    assert all("UTC" in title for title in re.findall(r"<time [^>]*?title=\"([^\"]*)", page))
    assert len(re.findall(r"<time ", page)) == len(re.findall(r"<time [^>]*?title=", page))


def test_a_file_is_named_after_the_day_of_its_reader(nepal):
    today = f"{datetime.now(UTC) + AHEAD:%Y-%m-%d}"

    assert f"{today}.csv" in nepal.get("/tweets/export.csv")["Content-Disposition"]
