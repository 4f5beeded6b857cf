"""Which tweets just reached a milestone: CTEs of the statement that records the measurement.

news (metrics before and after) ─> near ─> passed: new crossings, which become events
                                       └─> fallen: crossings that may happen again
"""

from __future__ import annotations

from trackers.outbox.staging import SELECT_MILESTONES_TOPIC
from tweetwatch.statements import statement

# Whether there is anything to do for milestones. Even without subscribers a fallen tweet's crossing
# is deleted, so that a later subscriber is told when it happens again.
ARE_KEPT = f"({SELECT_MILESTONES_TOPIC}) IS NOT NULL OR EXISTS (SELECT FROM trackers_crossing)"

PASSED = statement(__file__, "_passed", are_kept=ARE_KEPT, milestones=SELECT_MILESTONES_TOPIC)
