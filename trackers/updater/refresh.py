"""One batch: look up ─> compare ─> save ─> promote.

claimed ids ─> a request and its money ─> X's answer ─> a verdict per tweet ─> one statement
What goes wrong comes back as a value that says what happened to the batch; no transaction is
open while X is asked.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import InterfaceError, InternalError, OperationalError, connection

from trackers.jobs.queue import Batch
from trackers.tweets.describe import describe
from trackers.tweets.paid import mark_paid
from trackers.updater.known import known
from trackers.updater.promote import Rules, Verdict, verdicts
from trackers.updater.reserve import Asked, Held, Waiting, reserve
from trackers.updater.save import Saved, save
from trackers.xapi import client, ledger, turns
from trackers.xapi.answers import Lookup
from trackers.xapi.errors import Depleted, NotReady, RateLimited, Refused, Unavailable, XError
from tweetwatch.database import together


@dataclass(frozen=True, slots=True)
class Asking:
    """How X is asked, and what is made of tweets that it shows no longer."""

    base_url: str
    timeout: timedelta
    confirm_gone_after: timedelta
    gone_every: timedelta


@dataclass(frozen=True, slots=True)
class Refreshed:
    """X answered for the tweets of `batch`, and it is saved."""

    batch: Batch
    credential: str
    answer: Lookup = field(repr=False)
    saved: Saved = field(repr=False)


@dataclass(frozen=True, slots=True)
class Failed:
    """The request came to nothing.

    `another_may`: another credential may do better at once. `known`: nobody needs to be cautious,
    since a window or money that ran out, or the renewal of its tokens, keeps this credential from
    asking. `until`: X asked to be left alone so long.
    """

    batch: Batch
    credential: str
    because: str
    another_may: bool = False
    known: bool = False
    until: datetime | None = None


def refresh(batch: Batch, asking: Asking) -> Refreshed | Held | Failed | Waiting:
    """Look up the tweets of the batch and save what X says of them."""
    # Before the database tells its time: what was measured is never dated before X said it.
    began = time.monotonic()
    before = known(batch.keys)
    asked = reserve(batch, before, timeout=asking.timeout)
    if not isinstance(asked, Asked):
        return asked
    turn, batch = asked.turn, asked.batch

    try:
        answer = client.look_up(
            turn.credential, batch.keys, base_url=asking.base_url, timeout=asking.timeout
        )
    except XError as error:
        return failed(asked, error, now=before.now)
    # The database's time, from its answer above and what our clock has run since.
    answered_at = before.now + timedelta(seconds=time.monotonic() - began)

    rules = Rules(before.plan, asking.confirm_gone_after, asking.gone_every)
    judged = list(verdicts(batch.keys, answer, before.tweets, rules, now=answered_at))
    # First, since it was paid for; what is not settled counts as spent.
    saved = save_in_spite_of_the_database(batch, judged, at=answered_at, asked=asked)
    # Locks: the window's row, then that of the day's spending.
    with together():
        turns.answered(turn, answer.window)
        settle(asked, answer)
    # On its own: a crash between the two leaves the tweet undescribed, which the next look mends.
    describe([answer.posts[id] for id in saved.undescribed])
    return Refreshed(batch, turn.credential.name, answer, saved)


def settle(asked: Asked, answer: Lookup) -> None:
    """X bills what it showed, well-formed or not."""
    shown = answer.posts.keys() | answer.broken.keys()
    ledger.settle(
        asked.payment,
        posts=len(asked.unpaid & shown),
        shown=len(shown),
        x_now=answer.window.seen_at if answer.window else None,
    )


def failed(asked: Asked, error: XError, *, now: datetime) -> Failed:
    turn = asked.turn
    turns.settle_failed(turn, error, now=now)
    if error.sent and error.maybe_billed:
        # Counted, and marked as counted: an hour of such replies costs each tweet once.
        ledger.keep(asked.payment)
        mark_paid(asked.unpaid, day=asked.payment.day, project=turn.project)
    else:
        ledger.cancel(asked.payment)
    retry_after = error.retry_after if isinstance(error, Unavailable) else None
    return Failed(
        asked.batch,
        turn.credential.name,
        str(error),
        another_may=isinstance(error, Refused | RateLimited | NotReady | Depleted),
        known=isinstance(error, NotReady | Depleted)
        or (isinstance(error, RateLimited) and error.resets_at is not None),
        until=now + retry_after if retry_after else None,
    )


def save_in_spite_of_the_database(
    batch: Batch, judged: Sequence[Verdict], *, at: datetime, asked: Asked
) -> Saved:
    """Save, and again when the database goes away, chose us in a deadlock or is read-only for a
    while, as long as the lease lasts.

    X was paid for the answer. A save that was committed before its connection broke is not
    repeated: the lease is off the rows then.
    """
    begun = time.monotonic()
    while True:
        try:
            return save(batch, judged, at=at, paid_on=asked.payment.day, paid_by=asked.turn.project)
        except (OperationalError, InterfaceError, InternalError):
            left = (batch.expires_at - at).total_seconds()
            if connection.in_atomic_block or time.monotonic() - begun > left:
                raise
            connection.close()
            time.sleep(0.2)
