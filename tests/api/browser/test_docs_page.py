"""The page of the description: without a network, under our policy."""

import pytest

from tests.pages.looking import looking


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_docs_page_shows_every_call_without_other_hosts(client, live_server, django_user_model):
    client.force_login(django_user_model.objects.create_superuser("ada"))
    with looking(client, live_server, viewport={"width": 1280, "height": 900}) as seen:
        seen.page.goto(f"{live_server.url}/api/v1/docs")
        seen.page.wait_for_selector("#operations-tweets-list_tweets")
        assert seen.page.locator(".opblock").count() > 50
