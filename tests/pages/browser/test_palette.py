"""The search over any page: by keys alone, and without scripts as a page of its own."""

import pytest

from tests.pages.browser.test_axe import faults
from tests.pages.conftest import watched
from tests.pages.layout import spills
from tests.pages.looking import looking
from tests.pages.sources import source
from trackers.ingest.sources.models import Source

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FOCUSED = "() => document.activeElement.textContent.trim() || document.activeElement.id"


def test_a_page_is_opened_by_keys_alone(staff, live_server):
    with looking(staff, live_server) as seen:
        page, press = seen.page, seen.page.keyboard.press
        page.goto(f"{seen.address}/sources/")
        press("Control+k")
        page.wait_for_selector("#palette-found >> text=Columns")
        page.keyboard.type("aler")
        page.wait_for_selector("#palette-found .found[data-typed=aler]")
        assert page.inner_text("#palette-said").endswith("the first: Alerts")
        press("ArrowDown")
        press("ArrowDown")
        assert page.evaluate(FOCUSED) == "Alert log"
        press("ArrowUp")
        assert page.evaluate(FOCUSED) == "Alerts"
        press("ArrowUp")
        assert page.evaluate(FOCUSED) == "palette-typed"
        # From the field around to the last one.
        press("ArrowUp")
        assert page.evaluate(FOCUSED).startswith("Search the help")
        # Whoever goes on typing means the field.
        page.keyboard.type("t l")
        assert page.input_value("#palette-typed") == "alert l"
        page.wait_for_selector("#palette-found .found[data-typed='alert l']")
        press("Enter")
        page.wait_for_url(f"{seen.address}/alerts/log/")


def test_enter_before_the_answer_opens_what_the_answer_brings(staff, live_server):
    with looking(staff, live_server) as seen:
        page = seen.page
        page.goto(f"{seen.address}/sources/")
        page.keyboard.press("Control+k")
        page.keyboard.type("columns")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{seen.address}/columns/")


def test_the_focus_returns_and_a_mouse_opens_it_too(staff, live_server):
    with looking(staff, live_server, viewport={"width": 390, "height": 844}) as seen:
        page, press = seen.page, seen.page.keyboard.press
        page.goto(f"{seen.address}/sources/")
        page.focus("#person")
        press("Meta+k")
        page.wait_for_selector("#palette-typed:focus")
        press("Escape")
        assert page.locator("#palette").is_hidden()
        assert page.evaluate("() => document.activeElement.id") == "person"

        page.click("#find")
        page.wait_for_selector("#palette-found >> text=Columns")
        ours = len(seen.faults)
        assert faults(page, "/sources/", within="#palette") == []
        assert spills(page, "/sources/") == []
        # axe looks for styles in ways that the pages' policy refuses.
        del seen.faults[ours:]
        page.mouse.click(5, 5)
        assert page.locator("#palette").is_hidden()
        # What is typed into the menu's field goes on in it; another key opens nothing.
        page.focus("#find")
        press("Tab")
        assert page.locator("#palette").is_hidden()
        page.focus("#find")
        page.keyboard.type("co")
        page.wait_for_selector("#palette-found .found[data-typed=co]")
        assert page.input_value("#palette-typed") == "co"
        press("Control+k")
        assert page.locator("#palette").is_hidden()
        assert page.input_value("#find") == ""


def test_acts_are_done_and_those_that_ask_lead_to_the_question(staff, live_server):
    made, tweet = source("account", "nasa"), watched()
    with looking(staff, live_server) as seen:
        page = seen.page
        page.goto(f"{seen.address}/sources/")
        page.keyboard.press("Control+k")
        page.keyboard.type("pause nasa")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{seen.address}/sources/{made.pk}/")
        assert Source.objects.get().paused_at

        page.keyboard.press("Control+k")
        page.keyboard.type(f"untrack {tweet.pk}")
        page.keyboard.press("Enter")
        page.get_by_text("Stop tracking this tweet").wait_for()
        page.goto(f"{seen.address}/sources/")
        page.keyboard.press("Control+k")
        page.keyboard.type("track tw")
        page.keyboard.press("Enter")
        page.wait_for_selector("#track[open]")


def test_without_scripts_the_field_leads_to_the_page_of_the_same_search(staff, live_server):
    made = source("account", "nasa")
    with looking(staff, live_server, java_script_enabled=False) as seen:
        page = seen.page
        page.goto(f"{seen.address}/alerts/")
        page.fill("#find", "nasa")
        page.press("#find", "Enter")
        page.wait_for_url(f"{seen.address}/search/?q=nasa")
        seen.follow("main >> text=@nasa's posts")
        assert page.url == f"{seen.address}/sources/{made.pk}/"
        page.goto(f"{seen.address}/search/?q=pause+nasa")
        page.click("main >> text=Pause: @nasa's posts")
        page.wait_for_url(f"{seen.address}/sources/{made.pk}/")
        assert Source.objects.get().paused_at
