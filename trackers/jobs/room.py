"""How many keys a claim may take: fewer while X's windows are short of requests.

Keys that a batch claims and cannot ask for go back into the queue, each written twice for nothing.
So the next batch is only as large as the room that the last one found, and batches double again
with each one that found enough.
"""

from __future__ import annotations

from tweetwatch.database import cursor

# SKIP LOCKED: this is only a hint, not worth waiting for behind a burst of arrivals.
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
    """A batch found room for only this many keys."""
    with cursor() as db:
        db.execute(NARROW, {"namespace": namespace, "keys": keys})


def widen(namespace: str) -> None:
    """A batch found as much room as it needed."""
    with cursor() as db:
        db.execute(WIDEN, {"namespace": namespace})
