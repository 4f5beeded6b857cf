"""The menu of every page: what is behind the person, and how the installation is."""

import pytest
from django.utils import timezone

from tests.factories import CredentialFactory
from tests.pages.browser.test_axe import faults
from tests.pages.layout import spills
from tests.pages.looking import looking
from tests.pages.operations.large.test_overview import worker
from trackers.alerts.models import AlertNotice
from trackers.jobs import pausing
from trackers.jobs.statistics import record_summary

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FOCUSED = "() => document.activeElement.id"


def test_the_menu_behind_the_person_opens_and_closes_without_a_mouse(staff, live_server):
    with looking(staff, live_server, viewport={"width": 390, "height": 844}) as seen:
        page = seen.page
        page.goto(f"{seen.address}/sources/")
        menu = page.locator("[data-menu] > div")
        page.focus("#person")
        page.keyboard.press("Enter")
        assert menu.is_visible()
        ours = len(seen.faults)
        assert faults(page, "/sources/") == []
        assert spills(page, "/sources/") == []
        # axe looks for styles in ways that the pages' policy refuses.
        del seen.faults[ours:]

        page.keyboard.press("Tab")
        page.keyboard.press("Escape")
        assert not menu.is_visible()
        assert page.evaluate(FOCUSED) == "person"

        page.click("#person")
        page.mouse.click(20, 700)
        assert not menu.is_visible()
        page.click("#person")
        page.click("text=Shortcuts")
        assert page.locator("#help").is_visible()
        assert not menu.is_visible()


def test_the_menu_behind_the_person_works_without_scripts(staff, live_server):
    with looking(staff, live_server, java_script_enabled=False) as seen:
        page = seen.page
        page.goto(f"{seen.address}/sources/")
        page.click("#person")
        assert page.locator("[data-menu] [data-theme-button]").is_hidden()
        seen.follow("[data-menu] >> text=Your account")
        assert page.url == f"{seen.address}/account/"
        page.click("#person")
        seen.follow("[data-menu] >> text=Log out")
        assert "/login/" in page.url


def test_the_menu_follows_how_the_installation_is(staff, live_server):
    CredentialFactory(name="main")
    worker()
    record_summary("tweet:update")
    with looking(staff, live_server) as seen:
        page = seen.page
        page.goto(f"{seen.address}/sources/")
        assert page.inner_text("#freshness") == "nothing to check"
        pausing.pause_all(by="ada")
        page.reload()
        page.wait_for_selector("#pause-line:has-text('Everything is paused.')")
        assert page.inner_text("#freshness") == "everything is paused"
        pausing.resume_all()
        AlertNotice.objects.create(rule_name="Fast", at=timezone.now())
        # Within a page, with the line at its head.
        page.wait_for_selector("#freshness:has-text('nothing to check')", timeout=30_000)
        assert page.locator("#freshness").count() == 1
        assert page.inner_text("#unread").split() == ["1", "unread"]
        assert page.locator("#unread").count() == 1
        seen.follow("#freshness")
        assert page.url == f"{seen.address}/operations/"
