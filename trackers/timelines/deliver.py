"""Deliver what came from an origin into the homes that follow it.

mark ─> the next arrivals ─> every strategy that has built homes ─> the mark moves ─> commit
One transaction per page of arrivals: a killed worker loses nothing, since the next one delivers the
page again. A task delivers a few pages and puts the origin back at the end of the line, so that a
live source has its turn during an import of millions.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta

from django.db import transaction

from trackers.arrivals.models import TimelineDelivery
from trackers.jobs import queue
from trackers.jobs.queue import Batch
from trackers.timelines.homes.built import Built
from trackers.timelines.homes.following import delete_removed_origin
from trackers.timelines.homes.strategies import all_strategies
from trackers.timelines.models import BuiltHome
from trackers.timelines.settings import home_settings
from tweetwatch.database import compact_sql, cursor
from tweetwatch.pieces import Deadline, PieceWork, in_pieces
from tweetwatch.statements import statement

logger = logging.getLogger(__name__)

_DELIVER = TimelineDelivery.queue
# Arrivals per transaction; seconds after which an origin's turn ends.
ARRIVALS_PER_TRANSACTION = 500
_MAX_TURN_SECONDS = 0.5
# How long to wait when another worker is delivering this origin.
_RETRY_LOCKED_AFTER = timedelta(milliseconds=200)
# How long arrivals are kept, for readers who ask what is new.
_ARRIVALS_KEPT_FOR = timedelta(days=7)

# SKIP LOCKED: if the mark is locked, another worker has the origin. The mark moves under this lock,
# and follows begin and end under it.
_HOLD = """
    SELECT number, reach FROM trackers_deliverymark WHERE origin_id = %(origin)s
    FOR UPDATE SKIP LOCKED
"""
_IS_MARKED = "SELECT FROM trackers_deliverymark WHERE origin_id = %(origin)s"
_BEHIND = """
    SELECT number, tweet_id FROM trackers_arrival
    WHERE origin_id = %(origin)s AND number > %(number)s ORDER BY number LIMIT %(limit)s
"""
_NEWEST_ARRIVAL = "SELECT clock FROM trackers_origin WHERE id = %(origin)s"
_MOVE = "UPDATE trackers_deliverymark SET number = %(number)s WHERE origin_id = %(origin)s"
# The oldest of this origin, at least as many as a page delivers: so the table does not grow.
_PRUNE_ARRIVALS = compact_sql("""
    DELETE FROM trackers_arrival a
    USING (
        SELECT origin_id, number FROM (
            SELECT origin_id, number, came_at FROM trackers_arrival
            WHERE origin_id = %(origin)s AND number <= %(number)s ORDER BY number LIMIT 1000
        ) oldest WHERE came_at < now() - %(kept)s::interval
    ) old
    WHERE a.origin_id = %(origin)s AND a.number = old.number
""")

PRUNE_ARRIVALS = statement(__file__, "prune_arrivals")

# Claims the delivery for the process that stored the arrivals, if few follow the origin; not if it
# is claimed, or has a strike.
_CLAIM_DELIVERY = """
    UPDATE {bucket} b SET due_at = now() + n.lease, lease = %(lease)s
    FROM trackers_queue n
    WHERE n.name = %(queue)s AND NOT n.paused
      AND b.stamp = (SELECT stamp FROM {job} WHERE key = %(origin)s)
      AND b.keys = ARRAY[%(origin)s]::bigint[] AND b.lease IS NULL AND b.strikes = 0
      AND (SELECT count(*) FROM (
               SELECT FROM trackers_follow WHERE origin_id = %(origin)s
               LIMIT %(threshold)s::int + 1) followers) <= %(threshold)s::int
    RETURNING now(), b.due_at, n.task
"""


@dataclass(frozen=True, slots=True)
class Delivered:
    """How many arrivals of an origin were delivered, and into how many homes at most."""

    origin_id: int
    tweets: int = 0
    homes: int = 0
    is_all: bool = True  # nothing is left
    is_elsewhere: bool = False  # another worker is delivering it


def deliver(batch: Batch, *, deadline: Deadline | None = None) -> list[Delivered]:
    """Deliver what came from the claimed origins, a turn for each; origins whose turn does not come
    before the deadline go back to their places in line."""
    done: list[Delivered] = []
    for key in batch.keys:
        if done and deadline and deadline.is_over:
            queue.release_in_place(replace(batch, keys=batch.keys[len(done) :]))
            break
        delivered = deliver_from(key, deadline=Deadline.after(_MAX_TURN_SECONDS))
        ours = replace(batch, keys=(key,))
        if delivered.is_elsewhere:
            queue.release(ours, _RETRY_LOCKED_AFTER)
        elif delivered.is_all:
            # Fenced by the lease, which has ended if something came meanwhile.
            queue.finish(ours, {})
        else:
            queue.release(ours)
        done.append(delivered)
    return done


def log_delivered(delivered: Iterable[Delivered]) -> None:
    for origin in delivered:
        if origin.tweets:
            logger.info(
                "delivered %d tweets of origin %d into up to %d homes%s",
                origin.tweets,
                origin.origin_id,
                origin.homes,
                "" if origin.is_all else ", and there are more",
            )


def deliver_at_once(origin_id: int) -> None:
    """Deliver what was just committed, unless the origin has too many followers: then a worker
    does."""
    threshold = home_settings().async_threshold
    if not threshold:
        return
    # Random, like the leases of the queue.
    lease = secrets.randbits(63)
    params = {"lease": lease, "queue": _DELIVER, "origin": origin_id, "threshold": threshold}
    with cursor() as db:
        row = db.execute(queue.on(_DELIVER, _CLAIM_DELIVERY), params).fetchone()
    if row is not None:
        now, expires_at, task = row
        deliver(Batch(lease, (origin_id,), now, expires_at, _DELIVER, task, now))


def deliver_from(origin_id: int, *, deadline: Deadline) -> Delivered:
    """Deliver page after page, until nothing is left or time is up."""
    if not delete_removed_origin(origin_id, deadline=deadline):
        return Delivered(origin_id, is_all=False)
    tweets = homes = 0
    while True:
        page = deliver_page(origin_id)
        tweets, homes = tweets + page.tweets, max(homes, page.homes)
        if page.is_all or page.is_elsewhere or deadline.is_over:
            return replace(page, tweets=tweets, homes=homes)


def deliver_page(origin_id: int) -> Delivered:
    """In one transaction, deliver some arrivals into all homes and move the mark."""
    params = {"origin": origin_id}
    with transaction.atomic(), cursor() as db:
        mark = db.execute(_HOLD, params).fetchone()
        if mark is None:
            is_elsewhere = db.execute(_IS_MARKED, params).fetchone() is not None
            return Delivered(origin_id, is_elsewhere=is_elsewhere)
        number, reach = mark
        # Arrivals are read before the homes: if the building of a home starts in between, it will
        # read all that was found here.
        newest = db.execute(_NEWEST_ARRIVAL, params).fetchone()
        rows = db.execute(
            _BEHIND, {**params, "number": number, "limit": ARRIVALS_PER_TRANSACTION}
        ).fetchall()
        last, is_all = rows[-1][0] if rows else number, len(rows) < ARRIVALS_PER_TRANSACTION
        strategies, ids, homes = _strategies_in_use(), sorted({row[1] for row in rows}), 0
        if not strategies and newest:
            # No homes are built, so there is nothing to deliver.
            last, is_all = newest[0], True
        elif ids:
            homes = max(one.deliver(origin_id, ids, reach=reach) for one in strategies)
        if last != number:
            db.execute(_MOVE, {**params, "number": last})
            db.execute(_PRUNE_ARRIVALS, {**params, "number": last, "kept": _ARRIVALS_KEPT_FOR})
    return Delivered(origin_id, len(rows) if strategies else 0, homes, is_all)


def _strategies_in_use() -> list[Built]:
    return [
        one
        for one in all_strategies(home_settings())
        if BuiltHome.objects.filter(strategy=one.key).exists()
    ]


def prune_arrivals(*, deadline: Deadline) -> PieceWork:
    """Delete old arrivals of all origins: an imported file, for example, brings nothing more, so no
    later delivery would delete its arrivals."""
    after = -(2**63)

    def piece() -> int | None:
        nonlocal after
        with cursor() as db:
            row = db.execute(
                PRUNE_ARRIVALS, {"after": after, "kept": _ARRIVALS_KEPT_FOR}
            ).fetchone()
        if row is None or row[0] is None:
            return None
        last, gone = row
        if not gone:
            after = last
        return int(gone)

    return in_pieces("old arrivals", piece, left=lambda: 1, deadline=deadline)
