"""One batch: look up ─> compare ─> save ─> promote.

claimed ids ─> a credential in turn ─> one request to X ─> a verdict per tweet ─> one statement
What goes wrong comes back as a value that says what happened to the batch; no transaction is
open while X is asked.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError, connection

from trackers.jobs.queue import Batch
from trackers.schedule import intervals
from trackers.tweets.describe import describe
from trackers.tweets.models import Tweet
from trackers.updater.promote import Known, Rules, Verdict, verdicts
from trackers.updater.save import Saved, save
from trackers.xapi import client, turns
from trackers.xapi.answers import Lookup
from trackers.xapi.errors import NotReady, RateLimited, Refused, Unavailable, XError


@dataclass(frozen=True, slots=True)
class Asking:
    """How X is asked, and what is made of tweets that it shows no longer."""

    base_url: str
    timeout: timedelta
    confirm_gone_after: timedelta
    gone_every: timedelta


@dataclass(frozen=True, slots=True)
class Refreshed:
    """X answered and it is saved."""

    credential: str
    answer: Lookup = field(repr=False)
    saved: Saved = field(repr=False)


@dataclass(frozen=True, slots=True)
class Held:
    """Nobody may ask before `until`; the batch was not tried."""

    until: datetime
    because: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The request came to nothing.

    `another_may`: another credential may do better at once. `known`: nobody needs to be cautious,
    since a window that ran out, or the renewal of its tokens, keeps this credential from asking.
    `until`: X asked to be left alone so long.
    """

    credential: str
    because: str
    another_may: bool = False
    known: bool = False
    until: datetime | None = None


# How long nothing is asked when there is no credential that could; a person has to act.
NO_CREDENTIAL_WAIT = timedelta(seconds=15)


def refresh(batch: Batch, asking: Asking) -> Refreshed | Held | Failed:
    """Look up the tweets of the batch and save what X says of them."""
    now, plan = intervals.current()
    asked_at = time.monotonic()

    turn = turns.take()
    if isinstance(turn, turns.NoRoom):
        return Held(turn.until, turn.why)
    if isinstance(turn, turns.NoCredential):
        return Held(now + NO_CREDENTIAL_WAIT, turn.why)
    credential = turn.credential

    try:
        answer = client.look_up(
            credential, batch.keys, base_url=asking.base_url, timeout=asking.timeout
        )
    except XError as error:
        return failed(turn, error, now=now)
    # The database's time, from its answer above and what our clock has run since.
    answered_at = now + timedelta(seconds=time.monotonic() - asked_at)

    turns.settle(turn, answer.window)
    turns.accept(credential)
    rules = Rules(plan, asking.confirm_gone_after, asking.gone_every)
    known = what_we_know(answer)
    judged = list(verdicts(batch.keys, answer, known, rules, now=answered_at))
    saved = save_in_spite_of_the_database(batch, judged, at=answered_at)
    # On its own: a crash between the two leaves the tweet undescribed, which the next look mends.
    describe([answer.posts[id] for id in saved.undescribed])
    return Refreshed(credential.name, answer, saved)


def failed(turn: turns.Turn, error: XError, *, now: datetime) -> Failed:
    credential = turn.credential
    turns.settle_failed(turn, error)
    if isinstance(error, Refused):
        turns.refuse(credential, str(error), now=now)
    retry_after = error.retry_after if isinstance(error, Unavailable) else None
    return Failed(
        credential.name,
        str(error),
        another_may=isinstance(error, Refused | RateLimited | NotReady),
        known=isinstance(error, NotReady)
        or (isinstance(error, RateLimited) and error.resets_at is not None),
        until=now + retry_after if retry_after else None,
    )


def save_in_spite_of_the_database(
    batch: Batch, judged: Sequence[Verdict], *, at: datetime
) -> Saved:
    """Save, and again when the database goes away or chose us in a deadlock, while the lease lasts.

    X was paid for the answer. A save that was committed before its connection broke is not
    repeated: the lease is off the rows then.
    """
    begun = time.monotonic()
    while True:
        try:
            return save(batch, judged, at=at)
        except (OperationalError, InterfaceError):
            left = (batch.expires_at - at).total_seconds()
            if connection.in_atomic_block or time.monotonic() - begun > left:
                raise
            connection.close()
            time.sleep(0.2)


def what_we_know(answer: Lookup) -> dict[int, Known]:
    """What our rows say of those that the answer alone does not settle; most often nobody."""
    unsettled: Collection[int] = [
        *answer.missing,
        *(post.id for post in answer.posts.values() if post.created_at is None),
    ]
    if not unsettled:
        return {}
    rows = Tweet.objects.filter(pk__in=unsettled).values_list(
        "id", "created_at", "missing_since", "gone_at"
    )
    return {
        id: Known(created_at, missing_since, gone_at is not None)
        for id, created_at, missing_since, gone_at in rows
    }
