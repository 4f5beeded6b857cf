"""Keeps secrets in URL paths out of all logs, whatever writes them.

Django logs the paths of requests that fail, runserver and gunicorn those of all if so configured.
All log records of a process are created here.
"""

from __future__ import annotations

import logging
import re
from typing import Any

# And in the query with which X sends a user back (trackers/admin/x_sign_in.py).
SECRET = re.compile(
    r"(/(?:feeds|api_tokens)(?:/|%2f)|signed-in/\?(?=\S))[^/\s\"'?]+", re.IGNORECASE
)

_plain_record = logging.LogRecord


def _without_secrets(*args: Any, **kwargs: Any) -> logging.LogRecord:
    record = _plain_record(*args, **kwargs)
    try:
        message = record.getMessage()
    except (TypeError, ValueError, KeyError):
        # The handler will report that it cannot be formatted.
        return record
    scrubbed = SECRET.sub(r"\1…", message)
    if scrubbed != message:
        record.msg, record.args = scrubbed, ()
    return record


def keep_out_of_logs() -> None:
    logging.setLogRecordFactory(_without_secrets)
