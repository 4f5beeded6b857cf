"""Who asks X for a batch, and for which of its tweets: a request in a window, and the money for it.

claimed ids ─> shares by project ─> a credential in turn ─> tweet-days reserved ─> Asked
What finds no room goes back into the queue at once, and no try of it is counted.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from trackers.jobs import queue
from trackers.jobs.queue import Batch
from trackers.updater.known import Before
from trackers.updater.ration import rationed
from trackers.updater.shares import Share, share_out
from trackers.xapi import ledger, turns
from trackers.xapi.ledger import Payment, Purse

logger = logging.getLogger(__name__)

# How long nothing is asked when there is no credential that could; a person has to act.
NO_CREDENTIAL_WAIT = timedelta(seconds=15)
# Others took the last of the money between our look and our reservation, or reckon the floors.
A_MOMENT = timedelta(seconds=1)
# Those who wait for money come back in the evening, for what the young ones did not need, and then
# on the next UTC day, each time in the order in which they were due. In the evening that takes an
# hour. In the morning it takes the day's first ten minutes, before those come up that were paid for
# in the morning before: or these would be paid for again, and the same ones would always wait.
EVENING = timedelta(hours=2)
EVENING_SPREAD = 24
MORNING_SPREAD = 12


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that may be sent for the tweets of `batch`, of which `unpaid` are new today."""

    batch: Batch
    turn: turns.Turn
    payment: Payment
    unpaid: frozenset[int]


@dataclass(frozen=True, slots=True)
class Held:
    """Nobody may ask before `until`; the batch was not tried."""

    batch: Batch
    until: datetime
    because: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """There is no money for any of the batch today: all of it was put off."""


def reserve(batch: Batch, before: Before, *, timeout: timedelta) -> Asked | Held | Waiting:
    now = before.now
    purses = rationed(before.purses, before.plan, now=now)
    if purses is None:
        put_off(batch, batch.keys, A_MOMENT)
        return Waiting()
    shared = share_out(batch.keys, before.tweets, purses, now=now)
    if shared.waiting:
        usable = [purse for purse in purses if purse.usable]
        delay = min(wait_for_money(batch.due_at, purse) for purse in usable)
        logger.info("%d tweets wait for money, for %s", len(shared.waiting), delay)
        batch = put_off(batch, shared.waiting, delay)
        if not batch.keys:
            return Waiting()
    found, shut = whose_turn(shared.shares)
    if found is None:
        until, because = first_room([no_room for _, no_room in shut] or [nobody()], now=now)
        return Held(batch, until, because)
    share, turn = found
    for other, no_room in shut:
        batch = put_off(batch, other.ids, wait_for(no_room, now=now))
    # Paid for by projects that may have room: for the next claim, with others of theirs.
    batch = put_off(batch, set(batch.keys) - set(share.ids), timedelta(0))
    return pay(batch, share, turn, timeout=timeout)


def pay(batch: Batch, share: Share, turn: turns.Turn, *, timeout: timedelta) -> Asked | Waiting:
    """Reserve the tweet-days of those that are new today, the youngest first."""
    unpaid = share.youngest_first()
    payment = ledger.reserve(
        share.purse,
        unpaid=[one.floor for one in unpaid],
        paid=len(share.paid),
        timeout=timeout,
    )
    if payment is None:
        turns.cancel(turn)
        put_off(batch, batch.keys, A_MOMENT)
        return Waiting()
    batch = put_off(batch, [one.tweet_id for one in unpaid[payment.posts :]], A_MOMENT)
    paid_for = frozenset(one.tweet_id for one in unpaid[: payment.posts])
    return Asked(batch, turn, payment, paid_for)


NoTurn = turns.NoRoom | turns.NoCredential


def whose_turn(
    shares: Sequence[Share],
) -> tuple[tuple[Share, turns.Turn] | None, list[tuple[Share, NoTurn]]]:
    """A request for the largest share whose project has room, and the larger ones without."""
    shut: list[tuple[Share, NoTurn]] = []
    for share in shares:
        turn = turns.take(project=share.purse.project)
        if isinstance(turn, turns.Turn):
            return (share, turn), shut
        shut.append((share, turn))
    return None, shut


def nobody() -> NoTurn:
    """Why no project at all can be asked, and what a person has to do."""
    turn = turns.take()
    if isinstance(turn, turns.Turn):
        turns.cancel(turn)
        return turns.NoCredential("A credential was enabled just now.")
    return turn


def first_room(reasons: Iterable[NoTurn], *, now: datetime) -> tuple[datetime, str]:
    """Until when nobody has room, and why."""
    return min((now + wait_for(one, now=now), one.why) for one in reasons)


def wait_for(no_room: NoTurn, *, now: datetime) -> timedelta:
    if isinstance(no_room, turns.NoRoom):
        return max(no_room.until - now, timedelta(0))
    return NO_CREDENTIAL_WAIT


def put_off(batch: Batch, ids: Collection[int], delay: timedelta) -> Batch:
    """Give these back, due after `delay`; the batch without them."""
    if not ids:
        return batch
    gone = set(ids)
    queue.release(replace(batch, keys=tuple(id for id in batch.keys if id in gone)), delay)
    return replace(batch, keys=tuple(id for id in batch.keys if id not in gone))


def wait_for_money(due_at: datetime, purse: Purse) -> timedelta:
    """Until the evening of X's day or, when that has come, its next day; and then a while by when
    it was due."""
    next_day = purse.next_day() - purse.now
    midnight = datetime.combine(purse.day, datetime.min.time(), UTC)
    since = min(max(due_at - midnight, timedelta(0)), timedelta(days=1))
    if next_day > EVENING:
        return next_day - EVENING + since / EVENING_SPREAD
    return next_day + max(since - timedelta(days=1) + EVENING, timedelta(0)) / MORNING_SPREAD
