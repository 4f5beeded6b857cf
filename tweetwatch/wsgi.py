"""The web's entrance. It alone has a pool: one opened before a fork is shared by the children.

And it alone has a limit to what a statement may take, since somebody waits for its pages.
"""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
os.environ.setdefault("DATABASE_POOL", "true")
os.environ.setdefault("DATABASE_STATEMENT_TIMEOUT", "15")

application = get_wsgi_application()
