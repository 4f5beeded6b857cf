"""Nothing is deleted for its age by a clock that has just jumped.

To a database whose clock is a year ahead for an hour, everything is old. So each task that deletes
by age compares the time with that of its last run. If the clock has moved by more than an hour too
much, or back, the task deletes nothing until a run an hour later finds that the clock has gone on
as it should. The same happens after a pause of some hours, and does no harm then.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from functools import wraps

from tweetwatch.database import cursor

logger = logging.getLogger(__name__)

# Back by a minute is a clock that is being set. A run an hour later may begin some minutes early.
_COMPARE = """
    INSERT INTO trackers_clockreading AS r (task, read_at) VALUES (%(task)s, now())
    ON CONFLICT (task) DO UPDATE SET read_at = now(), doubted_since = CASE
        WHEN now() NOT BETWEEN r.read_at - interval '1 minute'
                           AND r.read_at + %(every)s + interval '1 hour' THEN now()
        WHEN r.doubted_since > now() - interval '50 minutes' THEN r.doubted_since
    END
    RETURNING doubted_since, doubted_since = now()
"""


def is_clock_believed(task: str, *, every: timedelta = timedelta(hours=1)) -> bool:
    """Whether the database's clock went on as it should since the task of that name last ran."""
    with cursor() as db:
        rows = db.execute(_COMPARE, {"task": task, "every": every}).fetchall()
    [(doubted_since, is_new)] = rows
    if is_new:
        logger.warning(
            "%s deletes nothing: it has not run for hours, or the database's clock has jumped. It "
            "goes on when a run an hour after %s agrees.",
            task,
            f"{doubted_since:%Y-%m-%d %H:%M} UTC",
        )
    return doubted_since is None


def while_clock_is_believed(task: Callable[[], None]) -> Callable[[], None]:
    """A task that does nothing after the clock has jumped."""

    @wraps(task)
    def guarded() -> None:
        if is_clock_believed(task.__name__):
            task()

    return guarded
