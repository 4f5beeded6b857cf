"""The WSGI entry point of the pages. Only it has a pool: forked children would share an open one.

It also limits how long a statement may take, since somebody waits for its pages.
"""

from __future__ import annotations

import logging
import os
import threading

from django.core.wsgi import get_wsgi_application

from tweetwatch import stopping
from tweetwatch.bad_requests import guarded
from tweetwatch.checks import env_file_is_private

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
os.environ.setdefault("DATABASE_POOL", "true")
os.environ.setdefault("DATABASE_STATEMENT_TIMEOUT", "15")

application = guarded(get_wsgi_application())

# gunicorn sets its handlers before it imports this module.
if threading.current_thread() is threading.main_thread():
    stopping.heed()

# Django's system checks only run in commands.
for warning in env_file_is_private():
    logging.getLogger(__name__).warning("%s %s", warning.msg, warning.hint)
