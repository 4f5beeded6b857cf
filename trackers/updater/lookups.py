"""A batch's look-ups, in parallel: each in a thread with its own connection to X.

grants ─> the keys, here ─> threads: send and read, no database ─> an Answered or an Unanswered each
An error in a thread affects only its own request; the others go on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from trackers.credentials.models import Credential
from trackers.credentials.preflight import check_time, keys_for
from trackers.updater.before import Before
from trackers.updater.edits import answer_by_tweet, newest_versions
from trackers.updater.reserve import BatchGrant
from trackers.xapi import client
from trackers.xapi.errors import XError
from trackers.xapi.results import Lookup, Shown
from tweetwatch.database import DatabaseClock

# More than the requests of a batch: those of a task that hit its time limit may still be running.
_MAX_THREADS = 24


Reply = tuple[Lookup | Shown, datetime]


@dataclass(frozen=True, slots=True)
class Answered:
    """X's answer to a request, by the ids of the tweets, and the database's time of the answer."""

    grant: BatchGrant
    reply: Lookup | Shown
    at: datetime


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Why a request has no answer."""

    grant: BatchGrant
    error: XError


@dataclass(frozen=True, slots=True)
class Broke:
    """An unexpected error in a request: its tweets stay claimed until their lease runs out, as
    after a crash."""

    grant: BatchGrant
    error: Exception


@dataclass(frozen=True, slots=True)
class Sender:
    """How each request of a batch is sent."""

    base_url: str
    timeout: timedelta
    before: Before
    # By time.monotonic().
    lease_ends: float
    # `task_time.reply_by()` of the main thread: once the alarm went off, there is none to ask for,
    # and a thread that had to wait would send what nobody saves.
    reply_by: float
    clock: DatabaseClock

    def keys_for(self, grant: BatchGrant) -> AbstractContextManager[Credential]:
        return keys_for(
            grant.selected, base_url=self.base_url, timeout=self.timeout, ends=self.ends(grant)
        )

    def ends(self, grant: BatchGrant) -> Mapping[str, float]:
        """The deadlines of the request, by name and time.monotonic()."""
        return {
            "its lease": self.lease_ends,
            "the time of its task": self.reply_by,
            "the days that are paid for": grant.payment.reply_by,
        }

    def send(self, grant: BatchGrant, keys: Credential) -> Reply:
        """X's answer, by the ids of the tweets. Runs in a thread: no database."""
        check_time(grant.selected, timeout=self.timeout, ends=self.ends(grant))
        ids, odd = grant.batch.keys, self.before.odd
        facts = {id: odd[id] for id in ids if id in odd} if odd else {}
        answer = client.look_up(
            keys,
            newest_versions(ids, facts),
            base_url=self.base_url,
            timeout=self.timeout,
            describes=not all(prior.is_described for prior in facts.values()),
            usual=not facts,
        )
        at = self.clock.now()
        return (answer_by_tweet(answer, ids, facts) if isinstance(answer, Lookup) else answer), at


def look_up(
    grants: Sequence[BatchGrant], sender: Sender
) -> Iterator[Answered | Unanswered | Broke]:
    """Send all requests; yield each outcome as it comes."""
    if len(grants) == 1:
        # A single request is sent from this thread, to reuse one connection: in the pool it would
        # go to a different thread each time.
        yield _send_alone(grants[0], sender)
        return
    # All keys first: renewing tokens takes a while, and needs the database.
    ready = [_prepare(grant, sender) for grant in grants]
    under_way: dict[Future[Reply], Prepared] = {}
    for prepared in ready:
        if isinstance(prepared, Unanswered | Broke):
            yield prepared
        else:
            under_way[_threads.run(partial(sender.send, prepared.grant, prepared.keys))] = prepared
    for reply in as_completed(under_way):
        yield _outcome_of(under_way[reply], reply)


def _send_alone(grant: BatchGrant, sender: Sender) -> Answered | Unanswered:
    try:
        with sender.keys_for(grant) as keys:
            return Answered(grant, *sender.send(grant, keys))
    except XError as error:
        return Unanswered(grant, error)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that can be sent."""

    grant: BatchGrant
    keys: Credential
    ends: ExitStack  # the caller must exit it with the outcome


def _prepare(grant: BatchGrant, sender: Sender) -> Prepared | Unanswered | Broke:
    ends = ExitStack()
    try:
        return Prepared(grant, ends.enter_context(sender.keys_for(grant)), ends)
    except XError as error:
        return Unanswered(grant, error)
    except Exception as error:
        return Broke(grant, error)


def _outcome_of(sent: Prepared, reply: Future[Reply]) -> Answered | Unanswered | Broke:
    try:
        # Inside `ends`, so that the keys' context sees the error too.
        with sent.ends:
            return Answered(sent.grant, *reply.result())
    except XError as error:
        return Unanswered(sent.grant, error)
    except Exception as error:
        return Broke(sent.grant, error)


class Threads:
    """This process's thread pool; a fork needs a new one, as threads do not survive it."""

    def __init__(self) -> None:
        self._process: int | None = None
        self._pool: ThreadPoolExecutor | None = None

    def run(self, act: Callable[[], Reply]) -> Future[Reply]:
        if self._pool is None or self._process != os.getpid():
            self._pool = ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="look-up")
            self._process = os.getpid()
        return self._pool.submit(act)


_threads = Threads()
