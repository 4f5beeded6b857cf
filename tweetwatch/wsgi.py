"""The web's entrance. It alone has a pool: one opened before a fork is shared by the children.

And it alone has a limit to what a statement may take, since somebody waits for its pages.
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

# gunicorn sets its handlers before this module is loaded.
if threading.current_thread() is threading.main_thread():
    stopping.heed()

# The checks of the commands do not run here.
for warning in env_file_is_private():
    logging.getLogger(__name__).warning("%s %s", warning.msg, warning.hint)
