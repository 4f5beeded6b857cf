"""Who asks X for which tweets of a batch: requests in windows, and the money for them.

claimed ids ─> shares by project ─> credentials selected ─> tweet-days reserved ─> a BatchGrant each
What finds no room goes back into the queue at once, without a strike.

In a day's first moments, before its rationing, only the youngest are paid for:
a batch finds yesterday's rationing ─> it requests today's (tasks.ration_money)
                                   └─> older tweets come back in a moment, the young are looked up
With yesterday evening's, the old tweets that waited would take all the money in the morning.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from django.db import transaction

from trackers.credentials import selection
from trackers.jobs import ordinary, queue
from trackers.jobs.queue import Batch
from trackers.money import ledger
from trackers.money.balances import Balance
from trackers.money.ledger import Payment
from trackers.schedule.intervals import Plan
from trackers.updater.before import Before
from trackers.updater.requests import (
    REQUEST_SIZE,
    count_requests,
    due_for_project,
    next_batch_size,
    rotate,
    split_into_requests,
)
from trackers.updater.shares import Share, share_out
from tweetwatch.database import cursor

logger = logging.getLogger(__name__)

# How long to wait when no credential could ask at all; a person has to act.
_NO_CREDENTIAL_WAIT = timedelta(seconds=15)
# How long to wait when others took the last of the money between our check and our reservation, or
# the day ended in between.
_A_MOMENT = timedelta(seconds=1)
# How long to wait while a new day is being rationed. Long enough for that, so that tweets
# are not moved again and again; short enough that those with money come in the first ten minutes.
WAIT_FOR_RATIONING = timedelta(seconds=10)
# Tweets that wait for money come back in the evening, for what the young ones did not need, and
# then on the next UTC day, each time in the order in which they were due. In the evening they are
# spread over an hour. In the morning they are spread over the day's first ten minutes, before the
# tweets that were paid for on the previous morning: otherwise these would be paid for again, and
# the same tweets would always wait.
EVENING = timedelta(hours=2)
_EVENING_SPREAD = 24
_DAY_START_SPREAD = 12


@dataclass(frozen=True, slots=True)
class BatchGrant:
    """A request that may be sent."""

    batch: Batch
    selected: selection.Selection
    payment: Payment
    unpaid: Set[int]  # of these tweets, those that are new today


@dataclass(frozen=True, slots=True)
class Granted:
    """The requests that may be sent."""

    requests: Sequence[BatchGrant]
    capacity: int | None  # tweets that the next batch should have, if not all of this one had room


@dataclass(frozen=True, slots=True)
class Held:
    """No credential may ask; the batch was not tried."""

    batch: Batch
    until: datetime  # before then
    because: str
    capacity: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing is left to request: the whole batch was postponed, or rests."""


def reserve_batch(batch: Batch, before: Before, *, timeout: timedelta) -> Granted | Held | Waiting:
    """As many requests as there is room and money for; all other tweets go back to the queue."""
    now = before.now
    balances = _limit_until_rationed(before.balances, before.plan, now=now)
    shared = share_out(before.groups(), balances, now=now)
    if shared.waiting:
        delay = min(wait_for_money(batch.due_at, balance) for balance in balances if balance.usable)
        logger.info("%d tweets wait for money, for %s", len(shared.waiting), delay)
        is_provisional = any(balance.is_provisional for balance in balances if balance.usable)
        queue.release(batch.only(shared.waiting), delay, anew=not is_provisional)
        batch = batch.without(shared.waiting)
        if not is_provisional:
            mark_waiting(shared.waiting)
        if not batch.keys:
            return Waiting()
    # After a full request there is usually another. With more than one tier they are spread over
    # the window, so as not to take all of it from the young.
    spread = len(batch.keys) >= REQUEST_SIZE and len(before.plan.tiers) > 1
    selected, without_room = _select_shares(shared.shares, batch, spread=spread)
    if not selected:
        until, because = _first_to_ask_again(
            [no_room for _, no_room in without_room] or [_none_can_ask()], now=now
        )
        return Held(batch, until, because, next_batch_size(0, len(shared.shares)))
    for other, no_room in without_room:
        queue.release(batch.only(other.ids), _wait_until_room(no_room, now=now))
        batch = batch.without(other.ids)
    # What found no room, or waits to fill a request, goes back to its place in line.
    asked = {id for share, _, _ in selected for id in share.ids}
    queue.release_in_place(batch.without(asked))
    grants = [
        grant
        for share, selections, _ in selected
        for grant in _reserve_money(
            batch.only(share.ids), share, selections, before.odd, timeout=timeout
        )
    ]
    is_short = without_room or any(
        len(selections) < count_requests(wanted) for _, selections, wanted in selected
    )
    capacity = next_batch_size(len(grants), len(shared.shares)) if is_short else None
    return Granted(grants, capacity) if grants else Waiting()


def _reserve_money(
    batch: Batch,
    share: Share,
    selections: Sequence[selection.Selection],
    odd: Collection[int],
    *,
    timeout: timedelta,
) -> Sequence[BatchGrant]:
    """Reserve tweet-days for tweets that are new today, youngest first; return the requests."""
    unpaid = share.youngest_first()
    payment = ledger.reserve_posts(
        share.balance,
        unpaid=[tweet.reserved_for_younger for tweet in unpaid],
        paid=len(share.paid),
        timeout=timeout,
        clock=selections[0].clock,
    )
    if payment is None:
        selection.cancel_all(selections)
        queue.release(batch, _A_MOMENT)
        return []
    too_many = [tweet.tweet_id for tweet in unpaid[payment.posts :]]
    queue.release(batch.only(too_many), _A_MOMENT)
    batch = batch.without(too_many)
    paid_for = {tweet.tweet_id for tweet in unpaid[: payment.posts]}
    requests = split_into_requests(batch.keys, odd)
    selection.cancel_all(selections[len(requests) :])
    payments = payment.parts([(len(paid_for.intersection(ids)), len(ids)) for ids in requests])
    return [
        BatchGrant(replace(batch, keys=ids), chosen, part, paid_for.intersection(ids))
        for ids, chosen, part in zip(requests, selections, payments, strict=False)
    ]


NotSelected = selection.NoRoom | selection.NoCredential
# A share, its requests, and how many tweets it wanted requests for.
ShareSelections = tuple[Share, Sequence[selection.Selection], int]


def _select_shares(
    shares: Sequence[Share], batch: Batch, *, spread: bool
) -> tuple[list[ShareSelections], list[tuple[Share, NotSelected]]]:
    """The shares to request now, largest first, each with its requests; and those without room.

    `spread`: pace the requests, so that the window lasts until its end.
    """
    selected: list[ShareSelections] = []
    without_room: list[tuple[Share, NotSelected]] = []
    for share in shares:
        ids = rotate(share.ids, by=batch.lease)
        if len(shares) > 1:
            ids = due_for_project(ids, is_full=batch.is_full, is_first=not selected)
        if not ids:
            continue
        taken = selection.select_several(
            count_requests(len(ids)), project=share.balance.project, spread=spread
        )
        if isinstance(taken, selection.NoRoom | selection.NoCredential):
            without_room.append((share, taken))
            continue
        with_room = set(ids[: len(taken) * REQUEST_SIZE])
        selected.append((share.only(with_room), taken, len(ids)))
    return selected, without_room


def _none_can_ask() -> NotSelected:
    """Why no project at all can ask, and what a person has to do."""
    chosen = selection.select_credential()
    if isinstance(chosen, selection.Selection):
        selection.cancel(chosen)
        return selection.NoCredential("A credential was enabled just now.")
    return chosen


def _first_to_ask_again(reasons: Iterable[NotSelected], *, now: datetime) -> tuple[datetime, str]:
    """When the first of these has room again, and why it has none now."""
    return min((now + _wait_until_room(no_room, now=now), no_room.why) for no_room in reasons)


def _wait_until_room(no_room: NotSelected, *, now: datetime) -> timedelta:
    if isinstance(no_room, selection.NoRoom):
        return max(no_room.until - now, timedelta(0))
    return _NO_CREDENTIAL_WAIT


# For the pages, which distinguish these from fresh ones. Locks: the jobs, in the order of keys.
_MARK_WAITING = """
    UPDATE trackers_tweetupdate SET for_money_until = due_at
    WHERE key = ANY(ARRAY(
        SELECT key FROM trackers_tweetupdate
        WHERE key = ANY(%(ids)s::bigint[]) AND due_at > now() ORDER BY key FOR UPDATE))
"""


def mark_waiting(ids: Collection[int]) -> None:
    """Record that these tweets wait for money until they are due."""
    with cursor() as db:
        db.execute(_MARK_WAITING, {"ids": sorted(ids)})


def wait_for_money(due_at: datetime, balance: Balance) -> timedelta:
    """Until the evening of X's day or, once it is evening, until X's next day, plus a delay that
    keeps the order of due times. Only a moment while today's rationing is awaited."""
    if balance.is_provisional:
        return WAIT_FOR_RATIONING
    next_day = balance.next_day() - balance.now
    midnight = datetime.combine(balance.day, datetime.min.time(), UTC)
    since = min(max(due_at - midnight, timedelta(0)), timedelta(days=1))
    if next_day > EVENING:
        return next_day - EVENING + since / _EVENING_SPREAD
    return next_day + max(since - timedelta(days=1) + EVENING, timedelta(0)) / _DAY_START_SPREAD


_RATION_MONEY = "trackers.tasks.ration_money"

# If it is still missing after this long, yesterday's is used: the budget holds without rationing,
# and no tweet should wait a whole day because nothing computes it.
MAX_WAIT_FOR_RATIONING = timedelta(minutes=10)

# Locks: the projects, in the order of ids, as everywhere. If another batch has asked already, no
# row is updated and nothing is enqueued.
_REQUEST_RATIONING = """
    UPDATE trackers_project SET rationing_requested_at = now()
    WHERE id = ANY(ARRAY(
        SELECT id FROM trackers_project
        WHERE id = ANY(%(projects)s::bigint[]) AND rationing_requested_at IS NULL
        ORDER BY id FOR NO KEY UPDATE))
"""


def _limit_until_rationed(
    balances: Sequence[Balance], plan: Plan, *, now: datetime
) -> Sequence[Balance]:
    """The balances; those that await today's rationing pay for the youngest tier only."""
    provisional = {
        balance.project
        for balance in balances
        if plan.tiers
        and balance.usable
        and not balance.is_rationed
        and not _is_overdue(balance, now=now)
    }
    if not provisional:
        return balances
    unrequested = [
        balance.project
        for balance in balances
        if balance.project in provisional and balance.rationing_requested_at is None
    ]
    if unrequested:
        _request_rationing(unrequested)
    youngest = plan.tiers[0].younger_than
    return [
        replace(
            balance,
            reserved_for_younger=((youngest, 0), (youngest, balance.left or 0)),
            is_provisional=True,
        )
        if balance.project in provisional
        else balance
        for balance in balances
    ]


def _is_overdue(balance: Balance, *, now: datetime) -> bool:
    requested_at = balance.rationing_requested_at
    return requested_at is not None and now - requested_at > MAX_WAIT_FOR_RATIONING


def _request_rationing(projects: list[int]) -> None:
    """Have it computed at once, without waiting for the next minute's run."""
    with transaction.atomic(), cursor() as db:
        if db.execute(_REQUEST_RATIONING, {"projects": projects}).rowcount:
            ordinary.enqueue(_RATION_MONEY)
