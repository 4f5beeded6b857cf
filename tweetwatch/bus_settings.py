"""The settings of `manage.py bus`: the same but for the addresses, and without the pages' things.

Nobody is logged in there, no cookie counts, and no path is redirected to another.
"""

from __future__ import annotations

from tweetwatch.settings import *  # noqa: F403

ROOT_URLCONF = "trackers.bus.urls"
WSGI_APPLICATION = "tweetwatch.bus_wsgi.application"
MIDDLEWARE = []
APPEND_SLASH = False
# A line for each malformed request helps nobody: the client was told what is wrong.
LOGGING["loggers"]["django.request"] = {"level": "ERROR"}  # noqa: F405
