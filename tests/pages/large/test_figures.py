"""A figure that stands on several pages is the same on each: all of them, from one state."""

import re
from collections import defaultdict
from datetime import timedelta
from html import unescape
from urllib.parse import urljoin

import pytest
from django.contrib.auth.models import User
from django.utils.timezone import now

from tests.api.conftest import Program
from tests.factories import TweetUpdateFactory
from tests.pages.browser.test_axe import filled
from tests.pages.operations.large.test_operations import worker
from tests.pages.sources import words
from trackers.jobs.observed.models import QueueCounters
from trackers.jobs.queue import job_classes
from trackers.jobs.statistics import record_summary

pytestmark = pytest.mark.django_db

FIGURE = re.compile(r'<data data-figure="([^"]+)" value="([^"]*)"')
PART = re.compile(r'hx-get="([^"]+)"')
# These stand on more than one page. A figure that joins them is named here.
ON_SEVERAL_PAGES = {
    "checks.last_hour", "queue.checked", "queue.due", "queue.isolated",
    "queue.lateness_almost_all", "queue.lateness_half",
}  # fmt: skip
OF_A_PROJECT = {"tweet-days-today", "money-today", "tweet-days-this-month", "money-this-month"}


@pytest.fixture
def busy(staff):
    """Work of every kind, in which figures that are easily taken for each other differ."""
    pages = filled(User.objects.get())
    TweetUpdateFactory.create_batch(3, due_at=now() - timedelta(seconds=90))
    TweetUpdateFactory.create_batch(2, strikes=4)
    late = [0] * (len(QueueCounters.LATENESS) + 1)
    late[2], late[8] = 90, 10
    for minutes, asked in ((0, 100), (30, 40), (59, 9), (75, 1000)):
        QueueCounters.objects.create(
            queue="tweet:update", minute=now().replace(second=0, microsecond=0)
            - timedelta(minutes=minutes), host="h", pid=1, batches=2, asked=asked,
            measured=asked - 5, missing=5, failed=7, late=late,
        )  # fmt: skip
    worker()
    for queue in job_classes():
        record_summary(queue)
    return pages


def figures_of(staff, address):
    """The figures of a page by their names, and the parts that its ticks ask for."""
    html = staff.get(address).content.decode()
    parts = {urljoin(address, unescape(part)) for part in PART.findall(html)}
    return FIGURE.findall(html), parts


def test_equal_names_have_equal_values_on_all_pages_and_parts(staff, busy):
    values, pages = defaultdict(set), defaultdict(set)
    waiting, seen = list(busy), set()
    while waiting:
        address = waiting.pop()
        if address in seen:
            continue
        seen.add(address)
        figures, parts = figures_of(staff, address)
        waiting += parts
        for name, value in figures:
            values[name].add(value)
            pages[name].add(address.partition("?")[0])

    assert {name: found for name, found in values.items() if len(found) > 1} == {}
    shared = {name for name in pages if len(pages[name]) > 1}
    assert {name for name in shared if not name.startswith("project.")} == ON_SEVERAL_PAGES
    assert {name.rpartition(".")[2] for name in shared if name.startswith("project.")} == (
        OF_A_PROJECT
    )


def test_pages_and_the_api_agree(staff, busy):
    figures, _ = figures_of(staff, "/operations/")
    queues = Program(staff, User.objects.earliest("pk")).ask("GET", "queues")["queues"]

    [queue] = [queue for queue in queues if queue["name"] == "tweet:update"]
    values = dict(figures)
    assert values["queue.scheduled"] == str(queue["scheduled"])
    assert values["queue.due"] == str(queue["due"])
    assert values["queue.checked"] == str(queue["checked_last_minute"])
    assert values["queue.lateness_almost_all"] == f"{queue['lateness_p99_seconds']} s"


def test_checks_are_those_that_brought_figures(staff, busy):
    """Also where others were asked about, and X did not show them."""
    assert "Checks that brought figures: 134" in words(staff.get("/?part=now").content.decode())
    assert "134 in the last 60 minutes" in words(staff.get("/operations/").content.decode())
