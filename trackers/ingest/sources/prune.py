"""Deletes what sources leave behind: gaps that were closed, and old yields.

A yield says that this source brought this tweet. Yields that are still needed are kept: the newest
of each source, for its page and for lists, of which each poll reads the newest again; late ones,
which the leak meter lists; and those of a tweet's own row, which names the first source that
brought it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from trackers.tweets.snowflake import first_id_at
from trackers.tweets.uncounted import noting_uncounted
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, PieceWork, delete_in_pieces, in_pieces, select_count
from tweetwatch.statements import statement

_GAPS_KEPT_FOR = timedelta(days=30)
# Far longer than anything reads back: search seven days, an overlap six.
_YIELDS_KEPT_FOR = timedelta(days=90)

# Uses the index `gap_closed`. The rows' ctids are locked before they are deleted, and collected in
# an array, since the planner would rather scan the whole table than join to them. The limit is a
# literal: if the planner did not know it, it would plan for all rows. No source is filling a closed
# gap.
PRUNE_GAPS = """
    DELETE FROM trackers_gap WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM trackers_gap g
        WHERE closed_at < %(before)s
          AND NOT EXISTS (SELECT FROM trackers_source s WHERE s.filling_id = g.id)
        ORDER BY closed_at LIMIT 5000
        FOR UPDATE SKIP LOCKED))
"""

# Both counts are bounded: anyone that far behind need not know it exactly.
_GAPS_LEFT = """
    SELECT count(*) FROM (
        SELECT FROM trackers_gap WHERE closed_at < %(before)s LIMIT 100000) left_over
"""
_YIELDS_LEFT = """
    SELECT count(*) FROM (
        SELECT FROM trackers_sourcetweet
        WHERE NOT late AND seen_at > %(after)s::timestamptz AND seen_at < %(before)s
        LIMIT 100000) left_over
"""

PRUNE_YIELDS = statement(
    __file__, "prune_yields", uncounted=noting_uncounted("SELECT tweet_id AS id FROM gone")
)


def prune_closed_gaps(*, now: datetime, deadline: Deadline) -> PieceWork:
    """Delete gaps that were closed long enough ago. A gap that is lost for good is not closed."""
    params = {"before": now - _GAPS_KEPT_FOR}
    return delete_in_pieces(
        "closed gaps", PRUNE_GAPS, left=_GAPS_LEFT, params=params, deadline=deadline
    )


def prune_old_yields(*, now: datetime, deadline: Deadline) -> PieceWork:
    """Delete records of what sources brought long enough ago, except what is still needed."""
    params = {"before": now - _YIELDS_KEPT_FOR}
    after: datetime | str = "-infinity"

    def piece() -> int | None:
        nonlocal after
        with cursor() as db:
            row = db.execute(PRUNE_YIELDS, {**params, "after": after}).fetchone()
        if row is None or row[0] is None:
            return None
        after, gone = row
        return int(gone)

    def left() -> int:
        return select_count(_YIELDS_LEFT, {**params, "after": after})

    return in_pieces("old yields", piece, left=left, deadline=deadline)


def pruned_up_to(at: datetime) -> int:
    """Yields of tweets with smaller ids may be deleted, so whether one is new is unknown."""
    return first_id_at(int((at - _YIELDS_KEPT_FOR).timestamp() * 1000))
