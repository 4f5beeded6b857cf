"""Secrets that are part of a path do not get into a log, whoever writes it.

Django logs the paths of requests that fail, runserver and gunicorn those of all, if they are told
to. All of them make their records here, in whichever process.
"""

from __future__ import annotations

import logging
import re
from typing import Any

SECRET = re.compile(r"(/(?:feeds|api_tokens)(?:/|%2f))[^/\s\"'?]+", re.IGNORECASE)

plain_record = logging.LogRecord


def without_secrets(*args: Any, **given: Any) -> logging.LogRecord:
    record = plain_record(*args, **given)
    try:
        message = record.getMessage()
    except (TypeError, ValueError, KeyError):
        # Whoever handles it tells that it cannot be put together.
        return record
    scrubbed = SECRET.sub(r"\1…", message)
    if scrubbed != message:
        record.msg, record.args = scrubbed, ()
    return record


def keep_out_of_logs() -> None:
    logging.setLogRecordFactory(without_secrets)
