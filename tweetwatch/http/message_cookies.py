"""What a page is to say next waits in a cookie with a name of this installation's own: two on one
host share their cookies, and each would say the other's, or drop them.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class _OwnCookieStorage(CookieStorage):
    cookie_name = settings.MESSAGE_COOKIE_NAME


class MessageStorage(FallbackStorage):
    storage_classes = (_OwnCookieStorage, SessionStorage)
