"""The WSGI entry point of the bus's HTTP API. As for the pages, statements have a time limit.

There is no pool: each thread keeps a connection of its own, which costs less for short requests.
"""

from __future__ import annotations

import os

os.environ["DJANGO_SETTINGS_MODULE"] = "tweetwatch.bus_settings"
os.environ["DATABASE_POOL"] = "false"

from tweetwatch.wsgi import application

__all__ = ["application"]
