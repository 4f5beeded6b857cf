"""What a person does to many tweets at once: chosen once, done in pieces, by a task.

chosen ─> BulkPieces ─> a task: some pieces, a transaction each ─> the next task ─> done
The tweets are written down when they are chosen, so that it is done to those and to no others, and
a worker that dies loses one piece at the most, which is done again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from trackers.jobs import ordinary
from trackers.schedule import steer
from trackers.schedule.models import BulkAct, BulkPiece
from trackers.tweets.tags import tagging

GO_ON = "trackers.tasks.go_on_with_bulk_act"

# So many tweets in a transaction, which locks the jobs and the rows of all of them; up to as many
# are done at once, while a person waits.
PIECE = 1000
# A task lasts so long, or a third of what it may: other tasks have their turn between two.
A_TASK = timedelta(seconds=5)
# A task that was not heard of for so long was lost with its worker.
LOST_AFTER = timedelta(seconds=30)
KEPT_FOR = timedelta(days=30)

Act = BulkAct.Act
Do = Callable[[Iterable[int]], int]
ACTS: Mapping[str, Do] = {
    Act.REFRESH: steer.refresh_in_turn,
    Act.PAUSE: steer.pause,
    Act.RESUME: steer.resume,
    Act.UNTRACK: steer.untrack,
    Act.RETRY: steer.retry_isolated,
}
# These take the tag besides.
WITH_TAG: Mapping[str, Callable[[int, Iterable[int]], int]] = {
    Act.TAG: tagging.put,
    Act.UNTAG: tagging.take,
}

# {chosen} gives one column of ids. In their order, so that a piece lies together in the indexes.
CHOOSE = """
    WITH numbered AS (
        SELECT id, (row_number() OVER (ORDER BY id) - 1) / %s AS piece
        FROM ({chosen}) AS chosen(id)
    ),
    put AS (
        INSERT INTO trackers_bulkpiece (act_id, ids)
        SELECT %s, array_agg(id ORDER BY id) FROM numbered GROUP BY piece ORDER BY piece
    )
    SELECT count(*) FROM numbered
"""

# What it leaves out of a piece: ids of tweets that it is not to be done to any more.
Sieve = Callable[[list[int]], list[int]]


def to_do(act: str, tag: int | None = None) -> Do:
    """What it does to some tweets."""
    if tag is None:
        return ACTS[act]
    return partial(WITH_TAG[act], tag)


def begin(
    act: str,
    chosen: QuerySet[Any],
    *,
    by: str,
    source: int | None = None,
    tag: int | None = None,
) -> BulkAct:
    """Write down which tweets it is done to, and have the workers do it.

    `chosen` gives ids alone, as `values_list("pk")` does.
    """
    with transaction.atomic():
        row = BulkAct.objects.create(
            act=act, by=by[:150], source=source, tag=tag, begun_at=Now(), touched_at=Now()
        )
        row.tweets = choose(row, chosen)
        hand_over(row)
    row.refresh_from_db()
    return row


def choose(row: BulkAct, chosen: QuerySet[Any]) -> int:
    query, given = chosen.order_by().query.sql_with_params()
    with connection.cursor() as db:
        db.execute(CHOOSE.format(chosen=query), [PIECE, *given, row.pk])
        return int(db.fetchone()[0])


def find(id: int) -> BulkAct | None:
    return BulkAct.objects.filter(pk=id).first()


def go_on(
    row: BulkAct, turn: int, *, at_most: timedelta = A_TASK, sieve: Sieve | None = None
) -> bool:
    """Do pieces of it for a while, and hand over to the next task; whether none is left.

    Of an earlier turn: nothing, another task has taken its place.
    """
    end = time.monotonic() + at_most.total_seconds()
    while (left := do_piece(row.pk, turn, sieve=sieve)) and time.monotonic() < end:
        pass
    if left:
        with transaction.atomic():
            if found := current(row.pk, turn):
                hand_over(found)
    return left is False


def do_piece(id: int, turn: int, *, sieve: Sieve | None = None) -> bool | None:
    """Do the next piece; False where none was left, None where the turn is another's."""
    with transaction.atomic():
        row = current(id, turn)
        if row is None:
            return None
        piece = BulkPiece.objects.filter(act=row).order_by("pk").first()
        if piece is None:
            return False
        row.done += to_do(row.act, row.tag)(sieve(piece.ids) if sieve else piece.ids)
        row.seen += len(piece.ids)
        row.touched_at = Now()
        row.save(update_fields=["done", "seen", "touched_at"])
        piece.delete()
    return True


def current(id: int, turn: int) -> BulkAct | None:
    """The act, locked; None where it is over, or another task's."""
    rows = BulkAct.objects.select_for_update().filter(pk=id, turn=turn, finished_at=None)
    return rows.first()


def finish(row: BulkAct) -> None:
    BulkAct.objects.filter(pk=row.pk, finished_at=None).update(finished_at=Now())


def stop(ids: Iterable[int]) -> int:
    """End acts where they stand; how many were not over. A source that was to go then stays."""
    with transaction.atomic():
        rows = BulkAct.objects.select_for_update().filter(pk__in=list(ids), finished_at=None)
        found = [row.pk for row in rows.order_by("pk")]
        BulkPiece.objects.filter(act__in=found).delete()
        return BulkAct.objects.filter(pk__in=found).update(finished_at=Now(), was_stopped=True)


def hand_over(row: BulkAct) -> None:
    """The next task, and no other, continues from where the row stands. In one transaction."""
    row.turn += 1
    row.touched_at = Now()
    row.save()
    ordinary.enqueue(GO_ON, row.pk, row.turn)


def find_lost() -> int:
    """Put other tasks in the place of those that died with their workers; how many."""
    with transaction.atomic():
        lost = BulkAct.objects.select_for_update(skip_locked=True).filter(
            finished_at=None, touched_at__lt=Now() - LOST_AFTER
        )
        found = list(lost.order_by("pk"))
        for row in found:
            hand_over(row)
    return len(found)


def forget_old() -> int:
    """Those that ended a month ago; how many."""
    return BulkAct.objects.filter(finished_at__lt=Now() - KEPT_FOR).delete()[0]
