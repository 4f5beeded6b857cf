"""Log lines: without secrets, whatever logged them; a lost database in a sentence; and as JSON
objects for programs that read them (`LOG_FORMAT=json`).

time, level, logger, process, message; what is known of the task in hand (`working_on`) and what the
caller gave as `extra`; the traceback as `exception`.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

# Secrets in the paths of URLs, and in the query with which X sends a user back
# (trackers/admin/x_sign_in.py).
_SECRET_IN_URL = re.compile(
    r"(/(?:feeds|api_tokens|s)(?:/|%2f)|signed-in/\?(?=\S))[^/\s\"'?]+", re.IGNORECASE
)
# What every record has; the rest was given as `extra`.
_RECORD_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_BEARER = re.compile(r"\b(bearer|basic)(\s+)[^\s\"',]+", re.IGNORECASE)
# Names of what is never written, whatever it holds.
_HIDDEN_NAMES = re.compile(
    r"secret|password|authorization|cookie|api_?key|(^|_)token$", re.IGNORECASE
)
# What Django adds, and has no short form.
_LEFT_OUT = {"request", "status_code", "server_time"}

_working_context: ContextVar[dict[str, Any]] = ContextVar("working", default={})  # noqa: B039 - never changed


@contextmanager
def working_on(**fields: Any) -> Iterator[None]:
    """Until the block ends, the lines of this thread name these, as task="tweet:update"."""
    token = _working_context.set({**_working_context.get(), **fields})
    try:
        yield
    finally:
        _working_context.reset(token)


class JSONLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": _without_secrets(record.getMessage()),
        }
        extra = {name: value for name, value in vars(record).items() if name not in _RECORD_FIELDS}
        for name, value in {**_working_context.get(), **extra}.items():
            if name not in _LEFT_OUT:
                line.setdefault(name, _log_value(name, value))
        if record.exc_info:
            line["exception"] = _without_secrets(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


class LostConnection(logging.Filter):
    """Says in a sentence that there is no connection to the database, instead of in a traceback.

    Every process logs that, django-q2's scheduler included, and no code is at fault.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return True
        # Not before: the settings import this module, before they know that the system will do.
        from django.db import OperationalError

        from tweetwatch.database import is_connection_lost, why_lost

        if isinstance(error, OperationalError) and is_connection_lost(error):
            record.msg = f"{record.getMessage().rstrip('.')}: {why_lost(error)}"
            record.args, record.exc_info, record.exc_text = (), None, None
        return True


class RefusedRequest(logging.Filter):
    """Says in one line what a client sent that Django refuses, as an unknown Host, instead of in a
    traceback: no code is at fault, and anybody may send it."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security."):
            record.exc_info, record.exc_text = None, None
        return True


def _log_value(name: str, value: Any) -> Any:
    if _HIDDEN_NAMES.search(name):
        return "…"
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return _without_secrets(str(value))


def _without_secrets(text: str) -> str:
    return _BEARER.sub(r"\1\2…", _SECRET_IN_URL.sub(r"\1…", text))


_plain_record = logging.LogRecord


def _record_without_secrets(*args: Any, **kwargs: Any) -> logging.LogRecord:
    record = _plain_record(*args, **kwargs)
    try:
        message = record.getMessage()
    except (TypeError, ValueError, KeyError):
        # The handler will report that it cannot be formatted.
        return record
    scrubbed = _SECRET_IN_URL.sub(r"\1…", message)
    if scrubbed != message:
        record.msg, record.args = scrubbed, ()
    return record


def keep_secrets_out() -> None:
    """Of all log records of this process: Django logs the paths of requests that fail, runserver
    and gunicorn those of all if so configured."""
    logging.setLogRecordFactory(_record_without_secrets)
