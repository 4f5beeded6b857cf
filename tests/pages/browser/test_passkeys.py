"""A passkey in a real browser, which Chromium's virtual authenticator plays."""

import pytest
from allauth.mfa.models import Authenticator

from tests.pages.looking import looking

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "a password of no account"


def authenticator(page):
    """One that is in the device, and recognizes its owner."""
    cdp = page.context.new_cdp_session(page)
    cdp.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    made = cdp.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return cdp, made["authenticatorId"]


def add_passkey(seen, *, alone):
    page = seen.page
    page.goto(f"{seen.address}/account/factors/passkeys/add/")
    page.fill("#id_password", PASSWORD)
    seen.follow("main form button")
    page.fill("#id_name", "office")
    page.set_checked("#id_passwordless", alone)
    seen.follow("#add-passkey")
    assert page.url.endswith("/account/factors/codes/")


def log_out(seen):
    seen.page.click("#person")
    seen.follow("header form button")
    assert "/login/" in seen.page.url


def test_a_passkey_alone_logs_in_and_can_be_removed(staff, live_server):
    with looking(staff, live_server, viewport={"width": 390, "height": 844}) as seen:
        page = seen.page
        cdp, key = authenticator(page)
        add_passkey(seen, alone=True)
        kept = cdp.send("WebAuthn.getCredentials", {"authenticatorId": key})["credentials"]
        assert [one["rpId"] for one in kept] == ["localhost"]

        log_out(seen)
        seen.follow("#login-passkey")
        assert page.url == f"{seen.address}/"

        page.goto(f"{seen.address}/account/factors/passkeys/")
        assert "office" in page.inner_text("main")
        assert "without a password" in page.inner_text("main")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        seen.follow("a.danger")
        page.fill("#id_password", PASSWORD)
        seen.follow("main form button")
        seen.follow("main form button")
    assert not Authenticator.objects.exists()


def test_a_passkey_is_the_second_factor_after_the_password(staff, live_server):
    with looking(staff, live_server) as seen:
        page = seen.page
        authenticator(page)
        add_passkey(seen, alone=False)

        log_out(seen)
        page.fill("#id_username", "ada")
        page.fill("#id_password", PASSWORD)
        with page.expect_navigation():
            page.press("#id_password", "Enter")
        page.locator("#use-passkey").wait_for()
        seen.follow("#use-passkey")
        assert page.url == f"{seen.address}/"


def test_a_device_that_refuses_is_explained(staff, live_server):
    with looking(staff, live_server) as seen:
        page = seen.page
        page.goto(f"{seen.address}/account/factors/passkeys/add/")
        page.fill("#id_password", PASSWORD)
        seen.follow("main form button")
        cdp, key = authenticator(page)
        cdp.send("WebAuthn.setUserVerified", {"authenticatorId": key, "isUserVerified": False})
        page.set_checked("#id_passwordless", True)
        page.click("#add-passkey")
        page.locator("[data-passkey-fault]").wait_for()
        assert "Nothing was added" in page.inner_text("main")
