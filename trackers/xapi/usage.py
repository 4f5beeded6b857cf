"""What X says it billed a project in recent days: GET /2/usage/tweets."""

from __future__ import annotations

from datetime import timedelta

from trackers.xapi.endpoints import USAGE
from trackers.xapi.keys import Keys
from trackers.xapi.parse.usage import Usage, read_usage
from trackers.xapi.wire.line import line_for
from trackers.xapi.wire.transport import CANONICAL

ADDRESS = CANONICAL + "/2/usage/tweets"
DAYS = 31
FIELDS = "cap_reset_day,daily_project_usage,project_cap,project_usage"


def read_project_usage(keys: Keys, *, base_url: str, timeout: timedelta) -> Usage:
    """The usage of the project of these keys; X gives it to bearer tokens only.

    Raises XError and nothing else.
    """
    line = line_for(keys, base_url, timeout)
    params = {"days": str(DAYS), "usage.fields": FIELDS}
    return line.ask(
        USAGE[keys.api], lambda: line.session.get(ADDRESS, params=params), read_usage, ()
    )
