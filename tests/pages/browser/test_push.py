"""A browser shows what is sent to it. Subscribing itself would ask Google, so DevTools deliver."""

import json

import pytest
from django.contrib.auth.models import User

from tests.channels.push import Browser, push_service
from tests.channels.sending import until
from tests.pages.browser.test_axe import DESK, PHONE, faults
from tests.pages.layout import spills
from tests.pages.looking import looking
from trackers.channels.models import Channel, PushKey

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# A headless browser has no place for notifications, so what is asked of it is noted.
NOTE = """
() => {
  self.noted = [];
  self.registration.showNotification = async (title, { body, data }) => {
    self.noted.push([title, body, data.url]);
  };
}
"""


def test_a_message_is_shown_while_no_page_asks_for_it(staff, live_server):
    with looking(staff, live_server, viewport=DESK) as seen:
        page, context = seen.page, seen.page.context
        context.grant_permissions(["notifications"], origin=seen.address)
        page.goto(f"{seen.address}/account/")
        devtools = context.new_cdp_session(page)
        registered = []
        devtools.on(
            "ServiceWorker.workerRegistrationUpdated",
            lambda event: registered.extend(event["registrations"]),
        )
        devtools.send("ServiceWorker.enable")
        page.evaluate(
            "async () => { await navigator.serviceWorker.register('/push-worker.js');"
            " await navigator.serviceWorker.ready; }"
        )
        [registration] = {
            one["registrationId"] for one in registered if "push" not in one["scopeURL"]
        }
        [worker] = context.service_workers
        worker.evaluate(NOTE)
        message = {"title": "Fast", "body": "It took off.", "url": "/tweets/20/", "tag": "x"}
        devtools.send(
            "ServiceWorker.deliverPushMessage",
            {
                "origin": seen.address,
                "registrationId": registration,
                "data": json.dumps(message),
            },
        )
        until(lambda: worker.evaluate("self.noted"))
        assert worker.evaluate("self.noted") == [["Fast", "It took off.", "/tweets/20/"]]


def test_the_page_asks_by_its_button_alone_and_fits(staff, live_server, settings):
    user = User.objects.get(pk=staff.session["_auth_user_id"])
    settings.EGRESS_PLAIN_HTTP = True
    with push_service() as service, looking(staff, live_server, viewport=PHONE) as seen:
        settings.PUSH_HOSTS = [service.place]
        page = seen.page
        # What the browser's push service would answer.
        given = json.dumps({"endpoint": service.endpoint, "keys": Browser().keys})
        page.add_init_script(
            "window.asked = 0;"
            "Notification.requestPermission = async () => { window.asked += 1; return 'granted'; };"
            f"PushManager.prototype.subscribe = async () => ({{ toJSON: () => ({given}) }});"
        )
        page.goto(f"{seen.address}/account/")
        assert page.evaluate("window.asked") == 0
        assert not PushKey.objects.exists(), "made once somebody asks"
        page.fill("#browser-name", "phone")
        seen.follow("text=Tell me in this browser")

        assert Channel.objects.get(made_by=user).name == f"{user.username}: phone"
        assert service.place in page.inner_text("main")
        collected = [*spills(page, "/account/"), *faults(page, "/account/")]
    assert collected == []


def test_without_scripts_the_page_says_that_it_takes_them(staff, live_server):
    with looking(staff, live_server, viewport=PHONE, java_script_enabled=False) as seen:
        seen.page.goto(f"{seen.address}/account/")
        assert "This takes JavaScript." in seen.page.inner_text("main")
        assert seen.page.is_disabled("text=Tell me in this browser")
