"""One batch: look up ─> compare ─> save ─> promote.

claimed ids ─> requests and their money ─> X's answers ─> a verdict per tweet ─> one statement
A failure is returned as a value that says what happened to the batch. No transaction is open during
a request to X.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import DatabaseError, InterfaceError

from trackers.credentials import selection
from trackers.credentials.health import cooldown_after
from trackers.jobs import queue, task_time
from trackers.jobs.queue import Batch
from trackers.money import ledger
from trackers.tweets.record import mark_paid
from trackers.updater.before import Before, read_before
from trackers.updater.lookups import Answered, Broke, Sender, Unanswered, look_up
from trackers.updater.reserve import Granted, Held, Waiting, reserve_batch
from trackers.updater.save import Saved
from trackers.updater.unsaved import record_unsaved
from trackers.updater.verdicts import CheckRules
from trackers.updater.write import write_answers
from trackers.xapi.errors import Depleted, NotReady, OtherVocabulary, Refused
from tweetwatch.database import DatabaseClock

# Seconds.
_BEFORE_THE_ALARM = 1.0


@dataclass(frozen=True, slots=True)
class LookupSettings:
    """How to ask X, and when tweets that it no longer shows are looked up again."""

    base_url: str
    timeout: timedelta
    confirm_gone_after: timedelta
    gone_every: timedelta


@dataclass(frozen=True, slots=True)
class LookedUp:
    """X's answers for a batch are saved."""

    batch: Batch
    answers: Sequence[Answered] = field(repr=False)
    saved: Saved = field(repr=False)
    # Tweets for which X's answer is unreadable or absent for the first time, and why.
    unreadable: Mapping[int, str] = field(repr=False)
    failed: Sequence[Failed] = ()  # requests without an answer
    # Unexpected errors; the tweets of these requests stay claimed, as after a crash.
    broke: Sequence[Exception] = ()
    capacity: int | None = None  # for how many tweets there was room, if not for all


@dataclass(frozen=True, slots=True)
class Failed:
    """A request without an answer."""

    batch: Batch
    credential: str
    because: str
    # Another credential may succeed at once. The queue need not back off, since a refusal, a
    # cool-down, a used-up window or budget, or the renewal of its tokens already keeps this
    # credential from asking.
    another_may: bool = False


def look_up_batch(batch: Batch, settings: LookupSettings) -> LookedUp | Held | Waiting:
    """Look up the tweets of the batch and save what X says about them."""
    # Taken before the database's time is read, so no measurement is dated before X's answer.
    began = time.monotonic()
    record_unsaved()
    before = read_before(batch.keys)
    batch = _only_tracked(batch, before)
    if not batch.keys:
        return Waiting()
    granted = reserve_batch(batch, before, timeout=settings.timeout)
    if not isinstance(granted, Granted):
        return granted
    clock = DatabaseClock(before.now, began)
    lease_ends = clock.monotonic_at(batch.expires_at)
    sender = Sender(
        settings.base_url, settings.timeout, before, lease_ends, task_time.reply_by(), clock
    )
    answers: list[Answered] = []
    failures: list[Failed] = []
    broke: list[Exception] = []
    for outcome in look_up(granted.requests, sender):
        match outcome:
            case Answered():
                answers.append(outcome)
            case Unanswered():
                try:
                    # Recorded at once, so that others do not try the same meanwhile.
                    failures.append(_settle_failure(outcome))
                except (DatabaseError, InterfaceError) as error:
                    # The other answers must still be saved once the database is back.
                    broke.append(error)
            case Broke():
                broke.append(outcome.error)
    rules = CheckRules(before.plan, settings.confirm_gone_after, settings.gone_every)
    # The alarm would end the task in the middle of a try, and nothing would say why.
    until = min(lease_ends, task_time.ends_at() - _BEFORE_THE_ALARM)
    saved, unreadable = write_answers(batch, answers, before, rules, until=until)
    return LookedUp(batch, answers, saved, unreadable, failures, broke, granted.capacity)


def _only_tracked(batch: Batch, before: Before) -> Batch:
    """Take what X need not be asked for out of the queue.

    Versions of other tweets rest, and those tweets are looked up instead. Keys without a tweet are
    left when somebody untracked it while its job was being put back, for a resume or a check.
    """
    over = before.untracked | {
        id for id, prior in before.odd.items() if prior.version_of is not None
    }
    if not over:
        return batch
    queue.finish(batch.only(over), {})
    return batch.without(over)


def _settle_failure(unanswered: Unanswered) -> Failed:
    """Record the failure, and count what it may have cost."""
    asked, error = unanswered.grant, unanswered.error
    selected = asked.selected
    selection.settle_failed(selected, error)
    if error.sent and error.maybe_billed:
        # Counted, and marked as paid: an hour of such replies costs each tweet only once.
        mark_paid(asked.unpaid, day=asked.payment.day, project=selected.project)
        ledger.count_as_billed(asked.payment)
    else:
        ledger.cancel(asked.payment)
    # The credential is not used for a while (selection.settle_failed); the others continue.
    another_may = cooldown_after(error) is not None or isinstance(
        error, Refused | NotReady | Depleted | OtherVocabulary
    )
    return Failed(asked.batch, selected.credential.name, str(error), another_may=another_may)
