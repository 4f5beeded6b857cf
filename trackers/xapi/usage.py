"""What X says it billed a project in recent days: GET /2/usage/tweets."""

from __future__ import annotations

from datetime import timedelta

from trackers.xapi.endpoints import USAGE_COUNT
from trackers.xapi.keys import Keys
from trackers.xapi.parse.usage import Usage, read_usage
from trackers.xapi.wire.transport import CANONICAL
from trackers.xapi.wire.x_client import client_for

_ADDRESS = CANONICAL + "/2/usage/tweets"
_DAYS = 31
_USAGE_FIELDS = "cap_reset_day,daily_project_usage,project_cap,project_usage"


def read_project_usage(keys: Keys, *, base_url: str, timeout: timedelta) -> Usage:
    """The usage of the project of these keys; X gives it to bearer tokens only.

    Raises XError and nothing else.
    """
    client = client_for(keys, base_url, timeout)
    params = {"days": str(_DAYS), "usage.fields": _USAGE_FIELDS}
    return client.ask(
        USAGE_COUNT[keys.api], lambda: client.session.get(_ADDRESS, params=params), read_usage, ()
    )
