"""How many keys a claim may take: fewer while X's windows are short of requests.

What a batch claims and cannot ask for goes back into the queue, each key of it written twice. So
the next batches are as small as the room that the last one found, and twice as large with each one
that found enough.
"""

from __future__ import annotations

from tweetwatch.database import cursor

# SKIP LOCKED: it is a hint, for which nobody waits behind a burst of arrivals.
NARROW = """
    UPDATE trackers_namespace SET room = %(keys)s
    WHERE name = (SELECT name FROM trackers_namespace
                  WHERE name = %(namespace)s AND (room IS NULL OR room > %(keys)s)
                  FOR UPDATE SKIP LOCKED)
"""

# Writes nothing in the ordinary case.
WIDEN = """
    UPDATE trackers_namespace SET room = CASE WHEN 2 * room < batch_size THEN 2 * room END
    WHERE name = (SELECT name FROM trackers_namespace
                  WHERE name = %(namespace)s AND room IS NOT NULL
                  FOR UPDATE SKIP LOCKED)
"""


def narrow(namespace: str, keys: int) -> None:
    """A batch found room for so many keys, and no more."""
    with cursor() as db:
        db.execute(NARROW, {"namespace": namespace, "keys": keys})


def widen(namespace: str) -> None:
    """A batch found as much room as it needed."""
    with cursor() as db:
        db.execute(WIDEN, {"namespace": namespace})
