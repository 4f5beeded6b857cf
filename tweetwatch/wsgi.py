"""The WSGI entry point of the pages. Only it has a pool: forked children would share an open one.

It also limits how long a statement may take, since somebody waits for its pages.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
from contextlib import suppress

from django.core.wsgi import get_wsgi_application
from django.db import connection
from django.urls import get_resolver
from psycopg_pool import PoolTimeout

from tweetwatch.checks import env_file_is_private
from tweetwatch.database import LOST
from tweetwatch.embedded import EmbeddedPostgresError
from tweetwatch.http import stopping
from tweetwatch.http.bad_requests import guard_application
from tweetwatch.schema import OldDatabaseError, wait_for_fitting_database

logger = logging.getLogger(__name__)
WORKER_BOOT_ERROR = 3

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
os.environ.setdefault("DATABASE_POOL", "true")
os.environ.setdefault("DATABASE_STATEMENT_TIMEOUT", "15")

application = guard_application(get_wsgi_application())

# A database that is away, or not migrated yet, may come back: until then each page says so.
wait_for_fitting_database()
try:
    with suppress(PoolTimeout, EmbeddedPostgresError, *LOST):
        connection.ensure_connection()
except OldDatabaseError as refusal:
    logger.critical("%s", refusal)
    # By this status gunicorn learns that another try would change nothing.
    sys.exit(WORKER_BOOT_ERROR)
finally:
    # Whoever forks this process would share them with it.
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]

# Load every view now, so that the first request does not wait for them.
_ = get_resolver().url_patterns
# Nothing that is loaded by now ever becomes garbage, but a full collection looks through all of it.
# That takes 100 ms, of whichever request is being served. A page of many rows had several of them:
# with 700 new objects to a collection, its own rows count as old ones before it is done.
gc.collect()
gc.freeze()
gc.set_threshold(10_000)

# gunicorn sets its handlers before it imports this module.
if threading.current_thread() is threading.main_thread():
    stopping.watch_stop_signals()

# Django's system checks only run in commands.
for warning in env_file_is_private():
    logger.warning("%s %s", warning.msg, warning.hint)
