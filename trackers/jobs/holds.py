"""When a namespace must wait: holds until a time, and the ladder of waits while requests fail."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from tweetwatch.database import cursor

# Never shortens a hold: of two reasons to wait, the one that lasts longer counts.
HOLD = """
    UPDATE trackers_namespace SET held_until = %(until)s, held_because = %(because)s
    WHERE name = %(namespace)s AND (held_until IS NULL OR held_until < %(until)s)
"""

LIFT = """
    UPDATE trackers_namespace SET held_until = NULL, held_because = ''
    WHERE name = %(namespace)s AND failures = 0 AND held_until IS NOT NULL
"""

# The first two failures in a row delay only their own batch. From the third on the namespace is
# held, each time twice as long. A failure during a hold is not counted: its request was sent
# before, and eight workers would climb eight rungs at once.
FAIL = """
    UPDATE trackers_namespace
    SET failures = failures + 1,
        held_until = CASE WHEN failures < 2 THEN held_until
            ELSE now() + %(jitter)s
                 * least(retry_most, retry_first * 2 ^ least(failures - 2, 30)) END,
        held_because = CASE WHEN failures < 2 THEN held_because ELSE %(because)s END
    WHERE name = %(namespace)s AND (held_until IS NULL OR held_until <= now())
"""

RETRY_FIRST = "SELECT retry_first FROM trackers_namespace WHERE name = %(namespace)s"

# Writes nothing in the ordinary case.
SUCCEED = """
    UPDATE trackers_namespace SET failures = 0
    WHERE name = %(namespace)s AND failures > 0
"""


def hold(namespace: str, *, until: datetime, because: str) -> None:
    """Claim nothing from the namespace until then."""
    with cursor() as db:
        db.execute(HOLD, {"namespace": namespace, "until": until, "because": because[:400]})


def lift(namespace: str) -> None:
    """Claim again at once, unless requests are failing: that hold ends on its own ladder."""
    with cursor() as db:
        db.execute(LIFT, {"namespace": namespace})


def fail(namespace: str, *, because: str) -> timedelta:
    """A request failed: climb the ladder; return how long its own batch should wait."""
    jitter = random.uniform(0.8, 1.2)
    with cursor() as db:
        db.execute(FAIL, {"namespace": namespace, "because": because[:400], "jitter": jitter})
    return first_wait(namespace, jitter=jitter)


def first_wait(namespace: str, *, jitter: float = 1.0) -> timedelta:
    """How long the keys of a failed request wait when other requests of its batch were answered."""
    with cursor() as db:
        found = db.execute(RETRY_FIRST, {"namespace": namespace}).fetchone()
    first: timedelta = found[0] if found else timedelta(seconds=5)
    return first * jitter


def succeed(namespace: str) -> None:
    """A request was answered: reset the ladder."""
    with cursor() as db:
        db.execute(SUCCEED, {"namespace": namespace})
