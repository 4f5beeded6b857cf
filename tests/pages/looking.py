"""A browser before the test's own server, in which the person of a client is logged in."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from django.conf import settings
from django.db import connections
from django.test import override_settings
from playwright.sync_api import sync_playwright

from tests.pages.browser import CHROMIUM, FLAGS, Screen

# HTTP alone, as the test server speaks it.
PLAIN = {"SESSION_COOKIE_SECURE": False, "CSRF_COOKIE_SECURE": False}


@contextmanager
def looking(client, server, **options):
    name = settings.SESSION_COOKIE_NAME
    with (
        override_settings(**PLAIN),
        pytest.MonkeyPatch.context() as patch,
        sync_playwright() as playwright,
    ):
        # Playwright runs a loop in the thread of the test; nothing else is in it.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = browser.new_context(**options)
        cookie = {"name": name, "value": client.cookies[name].value, "url": server.url}
        context.add_cookies([cookie])
        seen = Screen(context.new_page(), server.url)
        try:
            yield seen
        finally:
            browser.close()
            # Those that were opened in Playwright's loop are found in it alone.
            connections.close_all()
        assert seen.faults == [], seen.faults
