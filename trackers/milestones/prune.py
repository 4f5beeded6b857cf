"""Delete crossings once nobody subscribes to milestones.

While any exist, each change of a tweet is compared with the milestones, which costs the save a
sixth of its time.
"""

from __future__ import annotations

from trackers.outbox.staging import RECORDED
from tweetwatch.pieces import Deadline, PieceWork, delete_in_pieces

# A subscriber that joins meanwhile may get a milestone that was reported to others before.
# The limit is a literal: with a parameter the planner would have to expect any number of rows.
_PRUNE_CROSSINGS = f"""
    DELETE FROM trackers_crossing WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM trackers_crossing
        WHERE NOT EXISTS (SELECT FROM trackers_topic WHERE name = 'milestones' AND {RECORDED})
        LIMIT 5000 FOR UPDATE SKIP LOCKED))
"""
_COUNT_CROSSINGS = "SELECT count(*) FROM (SELECT FROM trackers_crossing LIMIT 100000) left_over"


def prune_crossings(*, deadline: Deadline) -> PieceWork:
    """Delete the crossings if nobody subscribes to milestones, or watches them."""
    return delete_in_pieces(
        "crossings", _PRUNE_CROSSINGS, left=_COUNT_CROSSINGS, params={}, deadline=deadline
    )
