"""One part of an uploaded file: read, tracked, counted and deleted, in one transaction.

claim ─> read (nothing is locked) ─> the job, the tweets, the source's tweets, the report ─> commit
If it is killed at any point, nothing is written, and the part is retried once its lease runs out.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from django.db import transaction

from trackers.arrivals.arrive import arrive
from trackers.ingest.files.models import Import, ImportPart
from trackers.ingest.files.parts import unpack
from trackers.ingest.files.preview import chosen_for, read_part
from trackers.ingest.files.rejected import store_rejected
from trackers.ingest.found_tweets import FoundTweet, Rejected
from trackers.ingest.sources import days
from trackers.ingest.track_all import TrackedAll, track_all
from trackers.jobs import queue
from trackers.jobs.queue import Batch
from trackers.tweets.newcomers import noting_newcomers
from trackers.tweets.uncounted import noting_uncounted
from tweetwatch.database import array, cursor

logger = logging.getLogger(__name__)

# How long until we check again whether a paused source was resumed.
_PAUSED_FOR = timedelta(seconds=30)

# In the order of ids, so that two parts of a source with the same tweets do not deadlock.
YIELDED = f"""
    WITH yielded AS (
        INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)
        SELECT %(source)s, id, now(), false FROM unnest(%(ids)s::bigint[]) AS arrival(id)
        ORDER BY id
        ON CONFLICT DO NOTHING
        RETURNING tweet_id
    ),
    uncounted AS ({noting_uncounted("SELECT tweet_id AS id FROM yielded")}),
    newcomers AS ({noting_newcomers("SELECT tweet_id AS id FROM yielded")})
    SELECT tweet_id FROM yielded
"""

# The last lock, since all parts of a file want it: it is held until the commit.
COUNT_PART = """
    UPDATE trackers_import
    SET read = read + %(read)s, tracked = tracked + %(tracked)s, already = already + %(already)s,
        rejected = rejected + %(rejected)s, warnings = warnings + %(warnings)s,
        parts_done = parts_done + 1,
        ended_at = CASE WHEN parts_done + 1 >= parts THEN now() END
    WHERE source_id = %(source)s
"""

_COUNT_YIELDED = """
    UPDATE trackers_source SET yielded = yielded + %(new)s, again = again + %(again)s
    WHERE id = %(source)s
"""


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of the lines of one part."""

    source: str
    first_line: int
    read: int
    tracked: int
    already: int
    rejected: int
    warnings: int = 0


def import_parts(batch: Batch) -> list[Imported]:
    """Import the claimed parts, each by itself; parts that are no longer ours are left out."""
    imported = [_import_part(replace(batch, keys=(key,))) for key in batch.keys]
    done = [imported_part for imported_part in imported if imported_part is not None]
    for imported_part in done:
        logger.info(
            "imported a part of the %s from line %d: %d read, %d tracked, %d rejected, %d warnings",
            imported_part.source,
            imported_part.first_line,
            imported_part.read,
            imported_part.tracked,
            imported_part.rejected,
            imported_part.warnings,
        )
    return done


def _import_part(batch: Batch) -> Imported | None:
    """None: the lease was lost, or the source is paused or gone; nothing was written."""
    (key,) = batch.keys
    part = ImportPart.objects.select_related("source__report").filter(pk=key).first()
    if part is None:
        queue.finish(batch, {})
        return None
    if part.source.paused_at:
        queue.release(batch, _PAUSED_FOR, anew=True)
        return None
    report: Import = part.source.report
    stream = read_part(
        report,
        unpack(bytes(part.lines)),
        column=int(report.column or 0),
        referenced=report.referenced,
        chosen=chosen_for(report),
    )
    all = list(stream)
    tweets = [one for one in all if isinstance(one, FoundTweet)]
    rejected = [one for one in all if isinstance(one, Rejected)]
    with transaction.atomic():
        # The fence, and the lock that removing the source waits for.
        if not queue.finish(batch, {}):
            return None
        came_from = str(part.source)
        done = track_all(tweets, came_from=came_from, paused=report.paused)
        _store_part(part, tweets, rejected, done)
    return Imported(
        came_from, part.first_line, len(all), done.tracked, done.already, len(rejected),
        len(done.odd),
    )  # fmt: skip


def _store_part(
    part: ImportPart, tweets: list[FoundTweet], rejected: list[Rejected], done: TrackedAll
) -> None:
    source, same = part.source_id, done.versions
    ids = {same[one.id].tweet_id if one.id in same else one.id for one in tweets}
    with cursor() as db:
        new = [row[0] for row in db.execute(YIELDED, {"source": source, "ids": array(sorted(ids))})]
        ImportPart.objects.filter(pk=part.pk).delete()
        again = len(tweets) - len(new)
        db.execute(_COUNT_YIELDED, {"source": source, "new": len(new), "again": again})
        today = datetime.now(UTC).date()
        days.count_brought([days.Brought(source, len(new), again)], day=today, project=None)
        # With the source's row locked; a new follow locks it too.
        arrive((source, id) for id in new)
        db.execute(
            COUNT_PART,
            {
                "source": source,
                "read": len(tweets) + len(rejected),
                "tracked": done.tracked,
                "already": done.already,
                "rejected": len(rejected),
                "warnings": len(done.odd),
            },
        )
    store_rejected(source, rejected)
    store_rejected(
        source, [Rejected(one.line, one.text, one.odd) for one in done.odd], tracked=True
    )
