"""Who waits when X's window runs low: sources of lower priority leave some of it to others."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from trackers.credentials import selection
from trackers.credentials.windows import OPENS, UNHEARD_FOR, X_NOW
from trackers.ingest.polls.state import kind_of
from trackers.ingest.sources.archive import SEARCHED
from trackers.ingest.sources.models import Source
from tweetwatch.database import cursor

# The share of a window's limit that is left over for sources of higher priority.
_LEFT_OVER: Mapping[int, float] = {Source.Priority.LOW: 0.3, Source.Priority.NORMAL: 0.1}

# If the window runs low and others come first: when it opens again, by our clock, or when to check
# whether X still says so. What is left is what X says, less what is under way, including our own
# request. A window that is over is ignored.
_RUNS_LOW = f"""
    SELECT least({OPENS}, statement_timestamp() + {UNHEARD_FOR})
    FROM trackers_window w
    WHERE w.id = %(window)s
      AND w.resets_at > {X_NOW}
      AND w.remaining - cardinality(w.under_way) - cardinality(w.lost)
          < floor(w."limit" * %(share)s::float8)
      AND EXISTS (SELECT FROM trackers_source
                  WHERE kind = ANY(%(kinds)s) AND priority > %(priority)s AND paused_at IS NULL)
"""


def left_to_others(source: Source, selected: selection.Selection) -> datetime | None:
    """Until when the rest of the selected window is reserved for higher priorities; None if not.

    A check without a lock: requests that others reserve at the same moment may each pass it.
    """
    share = _LEFT_OVER.get(source.priority)
    if share is None:
        return None
    kinds = [source.kind]
    if kind_of(source) == "archive":
        kinds = list(SEARCHED)
    elif kind_of(source) == "search":
        kinds = ["search", "stream"]
    params = {
        "window": selected.reservation.window_id,
        "share": share,
        "kinds": kinds,
        "priority": source.priority,
    }
    with cursor() as db:
        row = db.execute(_RUNS_LOW, params).fetchone()
    return row[0] if row else None
