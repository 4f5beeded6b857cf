"""An act on many tweets at once: the tweets are chosen once, then processed in pieces by a task.

chosen ─> BulkPieces ─> a task: some pieces, a transaction each ─> the next task ─> done
The tweets are stored when they are chosen, so the act applies to exactly those. A worker that dies
loses at most one piece, which is done again.
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
from trackers.schedule import tweet_changes
from trackers.schedule.models import BulkAct, BulkPiece
from trackers.tweets.tags import tagging

_CONTINUE_TASK = "trackers.tasks.go_on_with_bulk_act"

# Tweets per transaction, which locks the jobs and the rows of all of them; up to as many are done
# at once, while a person waits.
TWEETS_PER_PIECE = 1000
# How long a task works, but at most a third of its time limit; then other tasks have their turn.
TASK_LENGTH = timedelta(seconds=5)
# A task that was silent for this long was lost with its worker.
LOST_AFTER = timedelta(seconds=30)
KEEP_ACTS_FOR = timedelta(days=30)

ActName = BulkAct.Act
ActFunction = Callable[[Iterable[int]], int]
_ACT_FUNCTIONS: Mapping[str, ActFunction] = {
    ActName.CHECK: tweet_changes.check_in_turn,
    ActName.PAUSE: tweet_changes.pause_tweets,
    ActName.RESUME: tweet_changes.resume_tweets,
    ActName.UNTRACK: tweet_changes.untrack_tweets,
}
# These also take the tag.
_TAG_FUNCTIONS: Mapping[str, Callable[[int, Iterable[int]], int]] = {
    ActName.TAG: tagging.tag_tweets,
    ActName.UNTAG: tagging.untag_tweets,
}

# {chosen} gives one column of ids. In order, so that a piece is contiguous in the indexes.
_CHOOSE = """
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

# Reduces a piece's ids to those of tweets to which the act still applies.
Sieve = Callable[[list[int]], list[int]]


def function_of(act: str, tag: int | None = None) -> ActFunction:
    """The function that does this act to some tweets."""
    if tag is None:
        return _ACT_FUNCTIONS[act]
    return partial(_TAG_FUNCTIONS[act], tag)


def begin_act(
    act: str,
    chosen: QuerySet[Any],
    *,
    by: str,
    source: int | None = None,
    tag: int | None = None,
) -> BulkAct:
    """Store the chosen tweets, and have the workers do the act.

    `chosen` gives only ids, as `values_list("pk")` does.
    """
    with transaction.atomic():
        row = BulkAct.objects.create(
            act=act, by=by[:150], source=source, tag=tag, begun_at=Now(), touched_at=Now()
        )
        row.tweets = _store_chosen(row, chosen)
        _hand_over(row)
    row.refresh_from_db()
    return row


def _store_chosen(row: BulkAct, chosen: QuerySet[Any]) -> int:
    query, params = chosen.order_by().query.sql_with_params()
    with connection.cursor() as db:
        db.execute(_CHOOSE.format(chosen=query), [TWEETS_PER_PIECE, *params, row.pk])
        return int(db.fetchone()[0])


def find_act(id: int) -> BulkAct | None:
    return BulkAct.objects.filter(pk=id).first()


def continue_act(
    row: BulkAct, turn: int, *, at_most: timedelta = TASK_LENGTH, sieve: Sieve | None = None
) -> bool:
    """Do pieces for a while, then hand over to the next task; return whether none is left.

    With an earlier turn it does nothing: another task has taken its place.
    """
    end = time.monotonic() + at_most.total_seconds()
    while (left := _do_piece(row.pk, turn, sieve=sieve)) and time.monotonic() < end:
        pass
    if left:
        with transaction.atomic():
            if act := _lock_act(row.pk, turn):
                _hand_over(act)
    return left is False


def _do_piece(id: int, turn: int, *, sieve: Sieve | None = None) -> bool | None:
    """Do the next piece; False if none was left, None if another task has the turn."""
    with transaction.atomic():
        row = _lock_act(id, turn)
        if row is None:
            return None
        piece = BulkPiece.objects.filter(act=row).order_by("pk").first()
        if piece is None:
            return False
        row.done += function_of(row.act, row.tag)(sieve(piece.ids) if sieve else piece.ids)
        row.seen += len(piece.ids)
        row.touched_at = Now()
        row.save(update_fields=["done", "seen", "touched_at"])
        piece.delete()
    return True


def _lock_act(id: int, turn: int) -> BulkAct | None:
    """The act, locked; None if it is over, or another task has the turn."""
    rows = BulkAct.objects.select_for_update().filter(pk=id, turn=turn, finished_at=None)
    return rows.first()


def finish_act(row: BulkAct) -> None:
    BulkAct.objects.filter(pk=row.pk, finished_at=None).update(finished_at=Now())


def stop_acts(ids: Iterable[int]) -> int:
    """End acts where they are; return how many were not over. A source to be removed then stays."""
    with transaction.atomic():
        rows = BulkAct.objects.select_for_update().filter(pk__in=list(ids), finished_at=None)
        act_ids = [row.pk for row in rows.order_by("pk")]
        BulkPiece.objects.filter(act__in=act_ids).delete()
        return BulkAct.objects.filter(pk__in=act_ids).update(finished_at=Now(), was_stopped=True)


def _hand_over(row: BulkAct) -> None:
    """Have the next task, and no other, continue from the row. To be called in a transaction."""
    row.turn += 1
    row.touched_at = Now()
    row.save()
    ordinary.enqueue(_CONTINUE_TASK, row.pk, row.turn)


def replace_lost() -> int:
    """Replace tasks that died with their workers; return how many."""
    with transaction.atomic():
        lost = BulkAct.objects.select_for_update(skip_locked=True).filter(
            finished_at=None, touched_at__lt=Now() - LOST_AFTER
        )
        acts = list(lost.order_by("pk"))
        for row in acts:
            _hand_over(row)
    return len(acts)


def prune_acts() -> int:
    """Delete acts that ended over a month ago; return how many."""
    return BulkAct.objects.filter(finished_at__lt=Now() - KEEP_ACTS_FOR).delete()[0]
