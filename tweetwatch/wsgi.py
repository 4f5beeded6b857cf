"""The web's entrance. It alone has a pool: one opened before a fork is shared by the children."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
os.environ.setdefault("DATABASE_POOL", "true")

application = get_wsgi_application()
