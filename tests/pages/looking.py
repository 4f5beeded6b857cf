"""A browser before the test's own server, in which the person of a client is logged in."""

from contextlib import contextmanager

import pytest
from django.conf import settings
from django.db import connections
from django.test import override_settings

from tests.pages.chromium import window

# HTTP alone, as the test server speaks it.
PLAIN = {"SESSION_COOKIE_SECURE": False, "CSRF_COOKIE_SECURE": False}


@contextmanager
def looking(client, server, **options):
    name = settings.SESSION_COOKIE_NAME
    cookie = {"name": name, "value": client.cookies[name].value, "url": server.url}
    with override_settings(**PLAIN), pytest.MonkeyPatch.context() as patch:
        # Playwright runs a loop in the thread of the test; nothing else is in it.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        with window(server.url, **options) as seen:
            seen.page.context.add_cookies([cookie])
            try:
                yield seen
            finally:
                # Those that were opened in Playwright's loop are found in it alone.
                connections.close_all()
    assert seen.faults == [], seen.faults
