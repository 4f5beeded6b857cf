"""Lines without a tweet, and warnings: all are counted, the first thousand of each are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trackers.ingest.found_tweets import MAX_QUOTED_LENGTH, Rejected
from tweetwatch.database import cursor

_KEPT = 1000
_NUL = {0: "\ufffd"}

# Parts finish in any order: lines kept from a later part give way to those of an earlier one. The
# caller holds the import's row, so no two parts count at once.
_KEEP = """
    INSERT INTO trackers_rejectedline (source_id, tracked, line, text, why)
    SELECT DISTINCT ON (line) %(source)s::bigint, %(tracked)s, line, text, why
    FROM unnest(%(lines)s::bigint[], %(texts)s::text[], %(whys)s::text[]) AS bad(line, text, why)
    ORDER BY line
    ON CONFLICT (source_id, tracked, line) DO NOTHING
"""

_PRUNE_LATER = """
    DELETE FROM trackers_rejectedline
    WHERE source_id = %(source)s AND tracked = %(tracked)s AND line > (
        SELECT line FROM trackers_rejectedline
        WHERE source_id = %(source)s AND tracked = %(tracked)s
        ORDER BY line OFFSET %(kept)s - 1 LIMIT 1)
"""

_LAST_KEPT = """
    SELECT line FROM trackers_rejectedline
    WHERE source_id = %(source)s AND tracked = %(tracked)s
    ORDER BY line OFFSET %(kept)s - 1 LIMIT 1
"""


@dataclass(slots=True)
class Rejects:
    """How many lines were rejected, and the first of them, in the order of the file."""

    count: int = 0
    first: list[Rejected] = field(default_factory=list)

    def add(self, one: Rejected) -> None:
        self.count += 1
        if len(self.first) < _KEPT:
            self.first.append(one)


def store_rejected(source_id: int, rejected: Sequence[Rejected], *, tracked: bool = False) -> None:
    """Keep those that are among the file's first; the same line is kept once. `tracked`: they are
    warnings."""
    if not rejected:
        return
    params = {"source": source_id, "tracked": tracked, "kept": _KEPT}
    with cursor() as db:
        full = db.execute(_LAST_KEPT, params).fetchone()
        ours = [one for one in rejected[:_KEPT] if full is None or one.line < full[0]]
        if not ours:
            return
        db.execute(
            _KEEP,
            {
                "source": source_id,
                "tracked": tracked,
                "lines": [one.line for one in ours],
                "texts": [one.text[:MAX_QUOTED_LENGTH].translate(_NUL) for one in ours],
                "whys": [one.why[:300].translate(_NUL) for one in ours],
            },
        )
        db.execute(_PRUNE_LATER, params)
