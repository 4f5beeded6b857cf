"""The pages around logging in: on a phone and at a desk, light and dark, with axe and without
scripts."""

import re

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User

from tests.alerts.mail_servers import server
from tests.pages.browser.test_axe import DESK, PHONE, faults
from tests.pages.browser.test_passkeys import PASSWORD
from tests.pages.db.test_factors import code_of
from tests.pages.layout import spills
from tests.pages.looking import looking
from tweetwatch.servers import LoginProvider

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OF_ACCOUNT = (
    "/account/", "/account/factors/", "/account/factors/app/", "/account/factors/codes/new/",
    "/account/factors/passkeys/", "/account/factors/passkeys/add/", "/account/times/",
    "/account/pages/", "/account/quiet/", "/account/provider/",
)  # fmt: skip
PAGE_COLOUR = "getComputedStyle(document.documentElement).getPropertyValue('--page')"
DARK = "#0e131b"
BEFORE = ("/login/?next=/&over=1&lost=1", "/password/", "/password/sent/", "/password/1/x/")


@pytest.fixture(autouse=True)
def _with_all_ways_in(settings):
    settings.EMAIL_SERVER = server(25)
    roles = (("viewer", frozenset({"x"})),)
    settings.LOGIN_PROVIDER = LoginProvider("Example ID", "https://x.example", "x", "x", "x", roles)


def look_at(seen, addresses):
    collected = []
    for size, scheme in ((PHONE, "dark"), (DESK, "light")):
        seen.page.set_viewport_size(size)
        seen.page.emulate_media(color_scheme=scheme)
        for address in addresses:
            # Loaded in its colours: those that change do so slowly.
            seen.page.goto(f"{seen.address}{address}")
            ours = len(seen.faults)
            collected += spills(seen.page, address)
            collected += faults(seen.page, address)
            # axe looks for styles in ways that the pages' policy refuses.
            del seen.faults[ours:]
    return collected


def test_axe_finds_no_violation_around_logging_in(staff, live_server):
    linked = {"provider": LoginProvider.id, "uid": "7"}
    SocialAccount.objects.create(user=User.objects.get(), **linked)
    with looking(staff, live_server, viewport=PHONE) as seen:
        page = seen.page
        page.goto(f"{seen.address}/account/factors/app/")
        page.fill("#id_password", PASSWORD)
        seen.follow("main form button")
        collected = look_at(seen, OF_ACCOUNT)

        page.goto(f"{seen.address}/account/factors/app/")
        secret = page.inner_text("code.whole")
        page.fill("#id_code", code_of(secret))
        seen.follow("main form button")
        assert re.search(r"^\d{8}$", page.inner_text("pre"), re.MULTILINE)
        collected += look_at(seen, ["/account/factors/", "/account/factors/app/remove/"])
        seen.page.click("#person")
        seen.follow("header form button")
        collected += look_at(seen, BEFORE)
        page.goto(f"{seen.address}/login/")
        page.fill("#id_username", User.objects.get().username)
        page.fill("#id_password", PASSWORD)
        with page.expect_navigation():
            page.press("#id_password", "Enter")
        collected += look_at(seen, ["/login/factor/"])

    assert collected == [], "\n".join(collected)


def test_without_scripts_a_person_logs_in_with_password_and_code(staff, live_server):
    with looking(staff, live_server, java_script_enabled=False) as seen:
        page = seen.page
        page.goto(f"{seen.address}/account/factors/app/")
        page.fill("#id_password", PASSWORD)
        seen.follow("main form button")
        secret = page.inner_text("code.whole")
        page.fill("#id_code", code_of(secret))
        seen.follow("main form button")
        seen.page.click("#person")
        seen.follow("header form button")
        assert page.locator("#login-passkey:visible").count() == 0
        page.fill("#id_username", "ada")
        page.fill("#id_password", PASSWORD)
        with page.expect_navigation():
            page.press("#id_password", "Enter")
        page.fill("#id_code", code_of(secret, steps=1))
        seen.follow("main form button")
        assert page.url == f"{seen.address}/"


def test_the_theme_goes_with_the_account(staff, live_server):
    with looking(staff, live_server, color_scheme="light") as seen:
        page = seen.page
        page.goto(f"{seen.address}/sources/")
        with page.expect_response("**/account/theme") as saved:
            page.keyboard.press("t")
        assert saved.value.status == 204
        with page.expect_response("**/account/theme"):
            page.keyboard.press("t")
        assert page.get_attribute("html", "data-theme") == "dark"
    with looking(staff, live_server, java_script_enabled=False) as seen:
        seen.page.goto(f"{seen.address}/sources/")
        assert seen.page.get_attribute("html", "data-theme") == "dark"
        assert seen.page.evaluate(PAGE_COLOUR) == DARK
        seen.page.goto(f"{seen.address}/account/pages/")
        seen.page.select_option("#id_theme", "system")
        seen.page.select_option("#id_density", "compact")
        seen.page.select_option("#id_start", "sources")
        seen.follow("form.panel button")
        seen.page.goto(f"{seen.address}/")
        assert seen.page.url == f"{seen.address}/sources/"
        assert seen.page.get_attribute("html", "data-theme") is None
