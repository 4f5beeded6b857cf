"""The pages of an installation in which there is nothing yet, and pages over a slow network."""

import pytest

from tests.pages.conftest import measure, watched
from tests.pages.looking import looking

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# What each page says where nothing is, and where it leads from there.
EMPTY = {
    "/": "a[href*='/admin/trackers/credential/add/']",
    "/fastest/": "main a",
    "/tweets/": ".empty",
    "/home/": ".empty a, .empty button",
    "/columns/": ".empty, main form",
    "/live/": ".empty a",
    "/sources/": ".empty, main form",
    "/following/": "main a, main form",
    "/compare/": ".empty, main form",
    "/alerts/": ".empty a[href='/alerts/add/']",
    "/subscribers/": ".empty",
    "/operations/": ".notice",
    "/feeds/": "main form",
}
# Bytes a second, and milliseconds: a train.
SLOW = {"offline": False, "latency": 700, "downloadThroughput": 60_000, "uploadThroughput": 30_000}


def test_every_page_of_an_empty_database_names_the_next_step_and_fits_a_phone(staff, live_server):
    with looking(staff, live_server, viewport={"width": 390, "height": 844}) as seen:
        lost, wide = [], []
        for address, step in EMPTY.items():
            seen.page.goto(f"{seen.address}{address}")
            if not seen.page.locator(step).first.is_visible():
                lost.append(address)
            if seen.page.evaluate("document.documentElement.scrollWidth") > 390:
                wide.append(address)

    assert (lost, wide) == ([], [])


def test_over_a_slow_network_a_page_refreshes_and_no_server_is_called_dead(staff, live_server):
    tweet = watched()
    measure(tweet, 0, likes=1)

    with looking(staff, live_server) as seen:
        page = seen.page
        page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", SLOW)
        page.goto(f"{seen.address}/tweets/")
        shown = page.locator("#rows td[data-metric=likes] data").first
        shown.filter(has_text="1").wait_for()
        measure(tweet, 60, likes=2)
        shown.filter(has_text="2").wait_for()

        assert page.inner_text("[data-live]") == "Live"
        assert page.locator("[data-trouble]").count() == 0
