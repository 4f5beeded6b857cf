"""Settings of what the product is compared with: django-q2 as it is, tuned by its documentation.

Persistent connections (16 times as fast as Django's default on enqueue), bulk fetches, no saving of
successes (5 times as fast as its default), the ORM as the broker.
"""

from __future__ import annotations

import os

from tweetwatch.settings import *  # noqa: F403
from tweetwatch.settings import DATABASES

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django_q",
    "tests.benchmarks.stock_app",
]
MIDDLEWARE: list[str] = []
ROOT_URLCONF = ""
DATABASES["default"]["CONN_MAX_AGE"] = None
WORKERS = int(os.environ.get("WORKERS", "2"))
Q_CLUSTER = {
    "name": "stock",
    "orm": "default",
    "workers": WORKERS,
    "bulk": int(os.environ.get("STOCK_BULK", "100")),
    "queue_limit": int(os.environ.get("STOCK_QUEUE_LIMIT", "200")),
    "save_limit": -1,
    "ack_failures": True,
    "max_attempts": 1,
    "timeout": 60,
    "retry": 3600,
    "recycle": 1_000_000,
    "catch_up": False,
    "log_level": "WARNING",
}
# The fake X; empty: the figures are made up without HTTP.
STOCK_X = os.environ.get("X_API_BASE_URL", "")
