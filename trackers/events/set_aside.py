"""Batches that a receiver refuses for what they contain: set aside, sent again, or dropped.

A delivery sets aside what is refused again and again (`delivery/settle.py`); of an ordered line,
which stands still meanwhile, only a person does. A batch set aside is out of the line, and still
counts as waiting.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db.models import F
from django.template.defaultfilters import pluralize

from trackers.events.delivery.settle import REFUSALS_UNTIL_SET_ASIDE
from trackers.events.models import EventBatch, Subscriber
from trackers.outbox.findings import Observation
from tweetwatch.clock_times import iso
from tweetwatch.database import cursor
from tweetwatch.statements import statement

_DROP_BATCH = statement(__file__, "drop_batch")
_REFUSALS = statement(__file__, "refusals")
# An alert counts no further: it reads this many batches of each subscriber in a minute.
_MOST_COUNTED = 10


class NotSetAsideError(LookupError):
    """The subscriber has no such batch that could be set aside, sent again or dropped."""


def put_aside(subscriber: Subscriber, uid: UUID) -> None:
    """Take a batch out of the line that was refused or failed, and is not on its way."""
    waiting = subscriber.batches_in_line().filter(uid=uid, attempts__gt=0, is_current=False)
    states = EventBatch.State
    moved = waiting.exclude(state=states.PENDING).order_by()
    if not moved.update(state=states.SET_ASIDE, place=-F("place")):
        raise NotSetAsideError(
            f"No batch {uid} waits for another attempt. If it is on its way just now, try again."
        )


def send_again(subscriber: Subscriber, uid: UUID) -> None:
    """Put a batch back into the line, where it was; refusals of before do not count."""
    found = subscriber.batches_set_aside().filter(uid=uid).order_by()
    if not found.update(
        state=EventBatch.State.READY, place=-F("place"), refused_at=None, refusals=0
    ):
        raise _not_set_aside(uid)


def drop_batch(subscriber: Subscriber, uid: UUID) -> int:
    """Delete a batch that is set aside, as dropped; return how many events."""
    with cursor() as db:
        row = db.execute(_DROP_BATCH, {"subscriber": subscriber.pk, "uid": uid}).fetchone()
    if row is None:
        raise _not_set_aside(uid)
    return int(row[0])


def _not_set_aside(uid: UUID) -> NotSetAsideError:
    return NotSetAsideError(f"No batch {uid} is set aside.")


def head_that_stands(subscriber: Subscriber) -> EventBatch | None:
    """The head of an ordered line, if its content is refused so often that only a person helps."""
    if not subscriber.ordered:
        return None
    head = subscriber.batches_in_line().filter(kind=EventBatch.Kind.EVENTS).first()
    return head if head and head.refusals >= REFUSALS_UNTIL_SET_ASIDE else None


def batch_json(batch: EventBatch) -> dict[str, Any]:
    return {
        "batch": str(batch.uid),
        "kind": batch.kind,
        "state": "set aside" if batch.state == EventBatch.State.SET_ASIDE else batch.state,
        "events": len(batch.events),
        "oldest": iso(batch.first_at),
        "attempts": batch.attempts,
        "status": batch.last_status,
        "error": batch.last_error,
        "response": batch.refusal,
    }


def refusal_findings() -> Iterator[Observation]:
    """Of each subscriber: a batch is set aside, or an ordered line stands still."""
    params = {"aside_at": REFUSALS_UNTIL_SET_ASIDE, "most": _MOST_COUNTED + 1}
    with cursor() as db:
        rows = db.execute(_REFUSALS, params).fetchall()
    for id, name, head, head_error, count, error in rows:
        if head:
            wrong = (
                f"{name} is ordered and stands still: it refuses the batch {head} for what it "
                f"contains. {head_error} Set the batch aside, or mend the receiver."
            )
        elif count:
            many = f"more than {_MOST_COUNTED}" if count > _MOST_COUNTED else f"{count}"
            wrong = (
                f"{name} refused {many} batch{pluralize(count, 'es')} for what "
                f"{pluralize(count, 'it contains,they contain')}. {error} "
                f"Send {pluralize(count, 'it,them')} again, or drop {pluralize(count, 'it,them')}."
            )
        else:
            wrong = ""
        yield Observation(
            "refused",
            name,
            wrong,
            "Nothing is set aside, and its line moves.",
            f"/subscribers/{id}/",
        )
