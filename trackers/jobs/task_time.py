"""How much longer the current task may run: a worker's alarm ends it after TASK_TIMEOUT.

Times are those of time.monotonic(). Outside of a worker there is no end.
"""

from __future__ import annotations

import math
import signal
import time

from django.conf import settings


def ends_at() -> float:
    """When the alarm of this worker goes off; infinity where none is set."""
    left, _ = signal.getitimer(signal.ITIMER_REAL)
    return time.monotonic() + left if left else math.inf


def reply_by() -> float:
    """When a reply must have arrived for this task to save it.

    Of the time that a task has beyond a request's timeout, a quarter is for saving; the rest is for
    what comes before the request.
    """
    spare = settings.TASK_TIMEOUT - settings.REQUEST_TIMEOUT.total_seconds()
    return ends_at() - spare / 4
