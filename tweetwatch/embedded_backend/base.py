"""The database backend on the embedded server, started or joined at the first connection."""

from __future__ import annotations

from typing import Any

import environ
from django.conf import settings

from tweetwatch import embedded
from tweetwatch.database_backend import base


class DatabaseWrapper(base.DatabaseWrapper):
    def get_connection_params(self) -> dict[str, Any]:
        url = embedded.database_url(settings.EMBEDDED_POSTGRES_DIR)
        where = environ.Env.db_url_config(url)
        self.settings_dict["USER"] = where["USER"]
        self.settings_dict["HOST"] = where["OPTIONS"]["host"]
        return super().get_connection_params()
