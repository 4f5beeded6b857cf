"""The settings of `manage.py bus`: the same, except for its URLs, and without what pages need.

There are no logins, no cookies, and no redirects of paths.
"""

from __future__ import annotations

from tweetwatch.settings import *  # noqa: F403

ROOT_URLCONF = "trackers.bus.urls"
WSGI_APPLICATION = "tweetwatch.bus_wsgi.application"
MIDDLEWARE = []
# It does not start without its middleware.
INSTALLED_APPS = [app for app in INSTALLED_APPS if not app.startswith("allauth.")]  # noqa: F405
APPEND_SLASH = False
# `trackers.bus.bodies` has a limit of its own, which also holds for bodies in chunks.
DATA_UPLOAD_MAX_MEMORY_SIZE = None
# A log line for each malformed request helps nobody: the client is told what is wrong.
LOGGING["loggers"]["django.request"] = {"level": "ERROR"}  # noqa: F405
