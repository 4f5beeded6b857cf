"""The product's settings, and what it is compared with: a plain table, and django-activity-stream
if it is installed."""

from __future__ import annotations

from importlib.util import find_spec

from tweetwatch.settings import *  # noqa: F403
from tweetwatch.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.benchmarks.timelines"]
if find_spec("actstream"):
    INSTALLED_APPS.append("actstream")
