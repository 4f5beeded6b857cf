"""Which tweets just reached a milestone: CTEs of the statement that records the measurement.

news (metrics before and after) ─> near ─> passed: new crossings, which become events
                                       └─> fallen: crossings that may happen again
While any crossing exists, each change of a tweet is compared with the milestones, which costs the
save a sixth of its time: so they are deleted once nobody subscribes to milestones.
"""

from __future__ import annotations

from trackers.outbox.staging import RECORDED, SELECT_MILESTONES_TOPIC
from tweetwatch.pieces import Deadline, PieceWork, delete_in_pieces
from tweetwatch.statements import statement

# Whether there is anything to do for milestones. Even without subscribers a fallen tweet's crossing
# is deleted, so that a later subscriber is told when it happens again.
ARE_KEPT = f"({SELECT_MILESTONES_TOPIC}) IS NOT NULL OR EXISTS (SELECT FROM trackers_crossing)"

PASSED = statement(__file__, "_passed", are_kept=ARE_KEPT, milestones=SELECT_MILESTONES_TOPIC)


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
