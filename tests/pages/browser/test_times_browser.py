"""A browser elsewhere: its proposal, asked once, and charts in the zone of the person."""

import re

import pytest
from django.contrib.auth.models import User

from tests.pages.browser.test_axe import DESK, PHONE, faults, filled
from tests.pages.conftest import born, measure, watched
from tests.pages.layout import spills
from tests.pages.looking import looking
from trackers.tokens.models import TimeFormat

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# Chromium knows the city by its older name.
NEPAL = "Asia/Katmandu"
KATHMANDU = {"timezone_id": "Asia/Kathmandu", "locale": "en-GB"}


def test_the_zone_of_the_browser_is_proposed_once_and_used_everywhere(staff, live_server):
    tweet = watched()
    for minute in range(5):
        measure(tweet, 60 * minute, likes=minute)
    address = f"/tweets/{tweet.pk}/?range=24h"
    with looking(staff, live_server, viewport=PHONE, **KATHMANDU) as seen:
        page = seen.page
        page.goto(f"{seen.address}{address}")
        page.wait_for_selector("#chart canvas")
        assert page.inner_text("#chart .u-legend .u-series:first-child .u-label") == "UTC"
        proposal = page.locator("#propose-times")
        assert f"Your browser is in {NEPAL}" in proposal.inner_text()
        collected = spills(page, address)
        ours = len(seen.faults)
        collected += faults(page, address)
        del seen.faults[ours:]

        seen.follow("#propose-times form:first-child button")

        assert page.url.endswith(address)
        assert TimeFormat.objects.values_list("zone", "dates", "hours").get() == (
            NEPAL, "dmy", 24,
        )  # fmt: skip
        page.wait_for_selector("#chart canvas")
        label = page.inner_text("#chart .u-legend .u-series:first-child .u-label")
        assert label == NEPAL
        value = page.inner_text("#chart .u-legend .u-series:first-child .u-value")
        assert re.fullmatch(r"\d+ \w{3} \d{4},? \d\d:\d\d:\d\d", value)
        # What the script writes is what the server writes.
        at = int(born().timestamp() * 1000)
        ours = page.evaluate(
            "at => `${Times.day(at)} ${Times.clock(at, true)} ${Times.offset(at)}`", at
        )
        assert page.locator(f'time[title^="{ours}"]').count() > 0
        page.goto(f"{seen.address}/alerts/")
        assert proposal.count() == 0
    assert collected == []


def test_a_browser_in_utc_is_not_asked(staff, live_server):
    with looking(staff, live_server, viewport=DESK, timezone_id="Etc/UTC") as seen:
        seen.page.goto(f"{seen.address}/alerts/")
        assert seen.page.locator("#propose-times").count() == 0


@pytest.mark.parametrize(
    ("zone", "dates", "hours"),
    [
        ("America/St_Johns", "mdy", 12),
        ("Asia/Kathmandu", "ymd", 24),
        ("Asia/Tokyo", "dmy", 12),
        ("UTC", "ymd", 24),
    ],
)
def test_scripts_write_times_as_the_server_does(staff, live_server, zone, dates, hours):
    TimeFormat.objects.create(
        user_id=staff.session["_auth_user_id"], zone=zone, dates=dates, hours=hours
    )
    tweet = watched()
    at = int(born().timestamp() * 1000)
    with looking(staff, live_server, viewport=DESK) as seen:
        seen.page.goto(f"{seen.address}/tweets/{tweet.pk}/")
        written = seen.page.evaluate(
            "at => `${Times.day(at)} ${Times.clock(at, true)} ${Times.offset(at)}`", at
        )
        assert seen.page.locator(f'time[title^="{written}"]').count() > 0


def test_without_scripts_the_form_does_it_all(staff, live_server):
    with looking(
        staff, live_server, viewport=PHONE, java_script_enabled=False, **KATHMANDU
    ) as seen:
        page = seen.page
        page.goto(f"{seen.address}/account/")
        assert page.locator("#propose-times").count() == 0
        page.click("text=Dates and times")
        page.select_option("#id_zone", "America/St_Johns")
        page.select_option("#id_dates", "mdy")
        page.select_option("#id_hours", "12")
        seen.follow("main form button")
        text = page.inner_text("main")
    assert "Times are shown in America/St_Johns" in text
    assert re.search(r"now \w{3} \d+, \d{4} \d+:\d\d [AP]M UTC−[23]:30", text)


# What X bills and limits is by the day of UTC, and says so; a database's partitions are as well.
OF_UTC = re.compile(
    r"UTC day|day of UTC|Day \(UTC\)|today \(UTC\)|00:00 UTC|Days are UTC|begins \(UTC\)|"
    "stay in UTC"
)
OUTSIDE = """
() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (parent.closest("script, style, template, option")) continue;
    found.push(walker.currentNode.textContent.replace(/\\s+/g, " ").trim());
  }
  return found.filter((text) => /UTC(?![+\u2212])/.test(text));
}
"""
UNTITLED = """
() => [...document.querySelectorAll("time")]
  .filter((one) => !one.dateTime || !/ UTC$/.test(one.title)).map((one) => one.outerHTML)
"""


@pytest.mark.parametrize("zone", ["America/St_Johns", "Asia/Kathmandu"])
def test_no_page_shows_a_time_of_another_zone(staff, live_server, zone):
    user = User.objects.get(pk=staff.session["_auth_user_id"])
    TimeFormat.objects.create(user=user, zone=zone, dates="dmy", hours=24)
    collected = []
    with looking(staff, live_server, viewport=DESK, timezone_id=zone) as seen:
        # The documents speak of UTC.
        for address in (one for one in filled(user) if not one.startswith("/help/")):
            seen.page.goto(f"{seen.address}{address}")
            texts = seen.page.evaluate(OUTSIDE)
            collected += [(address, one) for one in texts if not OF_UTC.search(one)]
            collected += [(address, one) for one in seen.page.evaluate(UNTITLED)]
    assert collected == []
