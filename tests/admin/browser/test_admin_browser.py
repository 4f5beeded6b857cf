"""The admin in a browser: the secrets of the chosen kind, and lists that a phone can show."""

import pytest

from tests.factories import CredentialFactory
from tests.pages.looking import looking

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDER = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"


def test_the_form_shows_only_secrets_of_the_chosen_kind_with_and_without_scripts(
    staff, live_server
):
    credential = CredentialFactory()

    with looking(staff, live_server, java_script_enabled=False) as seen:
        visible = seen.page.locator("fieldset.of-kind:visible")
        seen.page.goto(f"{seen.address}/admin/trackers/credential/add/")
        assert visible.count() == 0
        for kind, field in (("oauth1", "consumer_key"), ("oauth2", "client_id")):
            seen.page.select_option("#id_kind", kind)
            assert visible.count() == 1
            assert seen.page.locator(f"#id_{field}").is_visible()
        seen.page.goto(f"{seen.address}/admin/trackers/credential/{credential.pk}/change/")
        assert seen.page.locator("#id_bearer_token").is_visible()
        assert visible.count() == 1


def test_the_admin_fits_a_phone(staff, live_server):
    CredentialFactory()
    pages = ("", "trackers/interval/", "trackers/credential/add/", "trackers/queue/")

    with looking(staff, live_server, viewport={"width": 390, "height": 844}) as seen:
        for page in pages:
            seen.page.goto(f"{seen.address}/admin/{page}")
            assert not seen.page.evaluate(WIDER), page
