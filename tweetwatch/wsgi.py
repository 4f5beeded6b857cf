"""The WSGI entry point of the pages. Only it has a pool: forked children would share an open one.

It also limits how long a statement may take, since somebody waits for its pages.
"""

from __future__ import annotations

import gc
import logging
import os
import threading

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from tweetwatch.checks import env_file_is_private
from tweetwatch.http import stopping
from tweetwatch.http.bad_requests import guarded

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
os.environ.setdefault("DATABASE_POOL", "true")
os.environ.setdefault("DATABASE_STATEMENT_TIMEOUT", "15")

application = guarded(get_wsgi_application())

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
    stopping.heed()

# Django's system checks only run in commands.
for warning in env_file_is_private():
    logging.getLogger(__name__).warning("%s %s", warning.msg, warning.hint)
