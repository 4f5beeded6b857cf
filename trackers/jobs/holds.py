"""When a queue must wait, and how many keys a claim of it may take.

A hold lasts until a time; while requests fail, a ladder of waits climbs. While X's windows are
short of requests claims are smaller: keys that a batch claims and cannot ask for go back into the
queue, each written twice for nothing. So the next batch is only as large as the last one's
capacity, and batches double again with each one that found enough.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from tweetwatch.database import Fault, cursor

# What a person does about it, in the reason of the hold.
_NEXT_STEPS = {
    Fault.SERVER: "Make room, or let it write again; everything goes on by itself.",
    Fault.SCHEMA: "Run manage.py migrate. If that changes nothing, please report it.",
}
# Of the database's words, so that the next step is never cut off.
_MAX_WORDS = 250

# Never shortens a hold: of two reasons to wait, the one that lasts longer counts.
_HOLD_QUEUE = """
    UPDATE trackers_queue
    SET held_until = %(until)s, held_reason = %(because)s, held_by_failures = false
    WHERE name = %(queue)s AND (held_until IS NULL OR held_until < %(until)s)
"""

_END_HOLD = """
    UPDATE trackers_queue SET held_until = NULL, held_reason = ''
    WHERE name = %(queue)s AND save_failures = 0 AND NOT held_by_failures
      AND held_until IS NOT NULL
"""

# The first two failures in a row delay only their own batch. From the third on the queue is
# held, each time twice as long. A failure during a hold is not counted: its request was sent
# before, and eight workers would climb eight rungs at once.
_RECORD_FAILURE = """
    UPDATE trackers_queue
    SET failures = failures + 1,
        held_until = CASE WHEN failures < 2 THEN held_until
            ELSE now() + %(jitter)s
                 * least(retry_most, retry_first * 2 ^ least(failures - 2, 30)) END,
        held_reason = CASE WHEN failures < 2 THEN held_reason ELSE %(because)s END,
        held_by_failures = failures >= 2
    WHERE name = %(queue)s AND (held_until IS NULL OR held_until <= now())
"""

# What X answers has cost money, so a queue whose batches cannot be saved is held at once. A failure
# during a hold is counted only of the batch that was tried.
_RECORD_FAILED_SAVE = """
    UPDATE trackers_queue
    SET save_failures = save_failures + 1, trial_until = NULL, held_reason = %(because)s,
        held_until = now() + %(jitter)s
            * least(retry_most, retry_first * 2 ^ least(save_failures, 30))
    WHERE name = %(queue)s
      AND (held_until IS NULL OR held_until <= now() OR trial_until IS NOT NULL)
"""
_BEGIN_TRIAL = """
    UPDATE trackers_queue SET trial_until = %(until)s
    WHERE name = %(queue)s AND save_failures > 0 AND (trial_until IS NULL OR trial_until <= now())
"""
_WAIT_FOR_TRIAL = """
    UPDATE trackers_queue SET held_until = trial_until
    WHERE name = %(queue)s AND save_failures > 0 AND trial_until > coalesce(held_until, now())
"""
_END_TRIAL = """
    UPDATE trackers_queue
    SET trial_until = NULL, save_failures = CASE WHEN %(saved)s THEN 0 ELSE save_failures END,
        held_until = CASE WHEN NOT %(saved)s THEN held_until END,
        held_reason = CASE WHEN %(saved)s THEN '' ELSE held_reason END
    WHERE name = %(queue)s AND save_failures > 0
"""

_RETRY_FIRST = "SELECT retry_first FROM trackers_queue WHERE name = %(queue)s"

# Writes nothing in the ordinary case.
_RECORD_SUCCESS = """
    UPDATE trackers_queue SET failures = 0
    WHERE name = %(queue)s AND failures > 0
"""

# SKIP LOCKED: this is only a hint, not worth waiting for behind a burst of arrivals.
_NARROW = """
    UPDATE trackers_queue SET capacity = %(keys)s
    WHERE name = (SELECT name FROM trackers_queue
                  WHERE name = %(queue)s AND (capacity IS NULL OR capacity > %(keys)s)
                  FOR UPDATE SKIP LOCKED)
"""

# Writes nothing in the ordinary case.
_WIDEN = """
    UPDATE trackers_queue SET capacity = CASE WHEN 2 * capacity < batch_size THEN 2 * capacity END
    WHERE name = (SELECT name FROM trackers_queue
                  WHERE name = %(queue)s AND capacity IS NOT NULL
                  FOR UPDATE SKIP LOCKED)
"""


def hold_queue(queue: str, *, until: datetime, because: str) -> None:
    """Claim nothing from the queue until then."""
    with cursor() as db:
        db.execute(_HOLD_QUEUE, {"queue": queue, "until": until, "because": because[:400]})


def end_hold(queue: str) -> None:
    """X may be asked again: claim at once. The next failure goes on where the ladder was.

    Not while X fails or the database cannot save: these are of another cause.
    """
    with cursor() as db:
        db.execute(_END_HOLD, {"queue": queue})


def record_failure(queue: str, *, because: str) -> timedelta:
    """A request failed: climb the ladder; return how long its own batch should wait."""
    jitter = random.uniform(0.8, 1.2)
    with cursor() as db:
        db.execute(_RECORD_FAILURE, {"queue": queue, "because": because[:400], "jitter": jitter})
    return first_wait(queue, jitter=jitter)


def record_failed_save(queue: str, fault: Fault, *, why: str) -> None:
    """The database could not save a batch: hold the queue, twice as long each time."""
    jitter = random.uniform(0.8, 1.2)
    because = f"The database could not save: {why[:_MAX_WORDS]}. {_NEXT_STEPS[fault]}"
    with cursor() as db:
        db.execute(_RECORD_FAILED_SAVE, {"queue": queue, "because": because, "jitter": jitter})


def begin_trial(queue: str, *, until: datetime) -> bool:
    """While saves fail: whether the caller may try, alone until then, if they work again."""
    with cursor() as db:
        return db.execute(_BEGIN_TRIAL, {"queue": queue, "until": until}).rowcount > 0


def wait_for_trial(queue: str) -> None:
    """Hold the queue until the one that tries is done."""
    with cursor() as db:
        db.execute(_WAIT_FOR_TRIAL, {"queue": queue})


def end_trial(queue: str, *, saved: bool) -> None:
    """The trial is over; `saved`: all claim again at once."""
    with cursor() as db:
        db.execute(_END_TRIAL, {"queue": queue, "saved": saved})


def first_wait(queue: str, *, jitter: float = 1.0) -> timedelta:
    """How long the keys of a failed request wait when other requests of its batch were answered."""
    with cursor() as db:
        row = db.execute(_RETRY_FIRST, {"queue": queue}).fetchone()
    first: timedelta = row[0] if row else timedelta(seconds=5)
    return first * jitter


def record_success(queue: str) -> None:
    """A request was answered: reset the ladder."""
    with cursor() as db:
        db.execute(_RECORD_SUCCESS, {"queue": queue})


def resize_claims(queue: str, capacity: int | None) -> None:
    """Let the next claims take as many keys as the last batch found room for; None: it found enough
    for all, so they may take more."""
    with cursor() as db:
        if capacity:
            db.execute(_NARROW, {"queue": queue, "keys": capacity})
        else:
            db.execute(_WIDEN, {"queue": queue})
