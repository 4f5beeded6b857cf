"""What sources leave behind is forgotten in the end: gaps that were closed, and old yields.

A yield says that this source brought this tweet. What still needs it is kept: the newest of each
source, for its page and for lists, of which each poll reads the newest again; those that came late,
which the leak meter lists; and a tweet's own row, which names the first source that brought it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from trackers.tweets.snowflake import first_id_at
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, Worked, count, in_pieces

GAPS_KEPT_FOR = timedelta(days=30)
# Far longer than anything reads back: search seven days, an overlap six.
YIELDS_KEPT_FOR = timedelta(days=90)

# By the index `gap_closed`. The places are locked before they are deleted; in an array, since the
# planner would rather read the whole table than join to them. The limit is a literal: one that the
# planner does not know might as well be all of them. No source is filling a closed gap.
FORGET_GAPS = """
    DELETE FROM trackers_gap WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM trackers_gap g
        WHERE closed_at < %(before)s
          AND NOT EXISTS (SELECT FROM trackers_source s WHERE s.filling_id = g.id)
        ORDER BY closed_at LIMIT 5000
        FOR UPDATE SKIP LOCKED))
"""

# Both are bounded: whoever is so far behind need not know it exactly.
GAPS_LEFT = """
    SELECT count(*) FROM (
        SELECT FROM trackers_gap WHERE closed_at < %(before)s LIMIT 100000) left_over
"""
YIELDS_LEFT = """
    SELECT count(*) FROM (
        SELECT FROM trackers_sourcetweet
        WHERE NOT late AND seen_at > %(after)s::timestamptz AND seen_at < %(before)s
        LIMIT 100000) left_over
"""

# By the index `sourcetweet_seen`, from where the last piece ended. WITH TIES: the yields of one
# transaction have one time, and none of them may be left behind. A row is only ever inserted or
# deleted, so a place found is good; whoever inserts the same yield meanwhile waits for the commit.
# The newest hundred of a source stay whatever their age: a page, which a list shows again.
FORGET_YIELDS = """
    WITH old AS MATERIALIZED (
        SELECT ctid AS place, source_id, tweet_id, seen_at FROM trackers_sourcetweet
        WHERE NOT late AND seen_at > %(after)s::timestamptz AND seen_at < %(before)s
        ORDER BY seen_at FETCH FIRST 5000 ROWS WITH TIES
    ),
    kept AS MATERIALIZED (
        SELECT source_id, (SELECT tweet_id FROM trackers_sourcetweet newest
                           WHERE newest.source_id = of.source_id
                           ORDER BY tweet_id DESC OFFSET 99 LIMIT 1) AS from_id
        FROM (SELECT DISTINCT source_id FROM old) of
    ),
    gone AS (
        DELETE FROM trackers_sourcetweet WHERE ctid = ANY(ARRAY(
            SELECT place FROM old JOIN kept USING (source_id) WHERE old.tweet_id < kept.from_id))
        RETURNING tweet_id
    )
    SELECT (SELECT max(seen_at) FROM old), (SELECT count(*) FROM gone)
"""


def forget_closed_gaps(*, now: datetime, deadline: Deadline) -> Worked:
    """Forget gaps that were closed so long ago. What is lost for ever is no closed gap."""
    given = {"before": now - GAPS_KEPT_FOR}

    def piece() -> int | None:
        with cursor() as db:
            return db.execute(FORGET_GAPS, given).rowcount or None

    return in_pieces("closed gaps", piece, left=lambda: count(GAPS_LEFT, given), deadline=deadline)


def forget_old_yields(*, now: datetime, deadline: Deadline) -> Worked:
    """Forget that sources brought what they brought so long ago, but for what is still needed."""
    given = {"before": now - YIELDS_KEPT_FOR}
    after: datetime | str = "-infinity"

    def piece() -> int | None:
        nonlocal after
        with cursor() as db:
            found = db.execute(FORGET_YIELDS, {**given, "after": after}).fetchone()
        if found is None or found[0] is None:
            return None
        after, gone = found
        return int(gone)

    def left() -> int:
        return count(YIELDS_LEFT, {**given, "after": after})

    return in_pieces("old yields", piece, left=left, deadline=deadline)


def forgotten_up_to(at: datetime) -> int:
    """The yields of tweets with smaller ids may be forgotten: whether one is new, nobody knows."""
    return first_id_at(int((at - YIELDS_KEPT_FOR).timestamp() * 1000))
