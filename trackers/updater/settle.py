"""Settle a batch: keys to give back, holds, the size of the next batch, metrics."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from trackers.jobs import counters, holds, queue
from trackers.jobs.observed import tasks as noted
from trackers.jobs.queue import Batch
from trackers.updater.batch_lookup import LookedUp
from trackers.updater.lookups import Answered
from trackers.updater.reserve import Held, Waiting
from trackers.updater.save import Saved
from trackers.xapi.results import Lookup, Shown
from tweetwatch.database import together

logger = logging.getLogger(__name__)


# Waits for the headers of a first request, or for a turn while requests are spread, are shorter.
_LONG_HOLD = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class _AnswerTotals:
    """X's answers in numbers."""

    asked: int
    measured: int
    missing: int
    broken: int
    unread: int
    left: Mapping[str, int | str]  # requests left, by the credential's name


def settle_batch(batch: Batch, outcome: LookedUp | Held | Waiting) -> None:
    """Apply a batch's outcome to the queue; then raise what broke a request."""
    match outcome:
        case LookedUp():
            _settle_looked_up(batch.queue, outcome)
        case Held():
            _hold_batch(batch, outcome)
        case Waiting():
            pass  # Already postponed until there is money.


def _settle_looked_up(name: str, done: LookedUp) -> None:
    if done.failed:
        noted.failed_because(done.failed[0].because)
        _give_back_failed(name, done)
    if done.failed or done.answers:
        totals = _sum_up(done.answers, done.saved)
        # Locks: the queue's row, and one that only this process uses.
        with together():
            if done.answers:
                holds.record_success(name)
                holds.resize_claims(name, done.capacity)
            counters.count_batch(name, _batch_done(done, totals))
        if done.answers:
            _log_looked_up(done, totals)
    for error in done.broke:
        raise error


def _hold_batch(batch: Batch, outcome: Held) -> None:
    """Hold the queue for a while, and give back what was claimed."""
    holds.resize_claims(batch.queue, outcome.capacity)
    holds.hold_queue(batch.queue, until=outcome.until, because=outcome.because)
    queue.release_in_place(outcome.batch)
    is_long = outcome.until > (batch.claimed_at or outcome.until) + _LONG_HOLD
    logger.log(
        logging.WARNING if is_long else logging.DEBUG,
        "gave %d tweets back, nothing is asked until %s: %s",
        len(outcome.batch.keys),
        outcome.until.isoformat(timespec="seconds"),
        outcome.because,
    )


def _give_back_failed(name: str, done: LookedUp) -> None:
    """Put back into the queue: due at once if another credential may do better, else after a while.

    If no request was answered, the queue waits as well, longer each time.
    """
    cautious = [failure for failure in done.failed if not failure.another_may]
    wait = timedelta(0)
    if cautious and done.answers:
        wait = holds.first_wait(name)
    elif cautious:
        wait = holds.record_failure(name, because=cautious[0].because)
    for failure in done.failed:
        if failure.another_may:
            queue.release_in_place(failure.batch)
        else:
            queue.release(failure.batch, wait)
        logger.warning(
            "gave %d tweets back, credential %s: %s",
            len(failure.batch.keys),
            failure.credential,
            failure.because,
            extra={"credential": str(failure.credential)},
        )


def _lateness_of(done: LookedUp) -> Sequence[int]:
    """The lateness of the requested tweets. If there was no room for the whole batch, each class is
    scaled to the share that was requested."""
    batch = done.batch
    asked = sum(len(request.grant.batch.keys) for request in done.answers)
    share = (asked + sum(len(request.batch.keys) for request in done.failed)) / len(batch.keys)
    return batch.late if share == 1 else [round(count * share) for count in batch.late]


def _batch_done(done: LookedUp, totals: _AnswerTotals) -> counters.BatchDone:
    return counters.BatchDone(
        requests=len(done.answers) + len(done.failed),
        asked=totals.asked,
        measured=totals.measured,
        changed=done.saved.changed,
        missing=totals.missing,
        failed=sum(len(failure.batch.keys) for failure in done.failed),
        late=_lateness_of(done),
    )


def _log_looked_up(done: LookedUp, totals: _AnswerTotals) -> None:
    logger.info(
        "looked up %d of %d tweets in %d requests, %d changed, %d missing, %d broken, "
        "%d counts unreadable, %d not ours any more, requests left: %s",
        totals.measured,
        totals.asked,
        len(done.answers),
        done.saved.changed,
        totals.missing,
        totals.broken,
        totals.unread,
        totals.asked - len(done.saved.ours),
        ", ".join(f"{name} {left}" for name, left in totals.left.items()),
    )
    if done.unreadable:
        id, why = next(iter(done.unreadable.items()))
        logger.warning(
            "%d tweets could not be read; they are requested again, then by their age; the first "
            "of them, %d: %s",
            len(done.unreadable),
            id,
            why,
            extra={"tweet_id": str(id)},
        )


def _sum_up(answers: Sequence[Answered], saved: Saved) -> _AnswerTotals:
    lookups = [answer.reply for answer in answers if isinstance(answer.reply, Lookup)]
    counts_only = [answer.reply for answer in answers if isinstance(answer.reply, Shown)]
    measured = {id for answer in lookups for id in answer.posts}.union(
        *(answer.ids for answer in counts_only)
    )
    return _AnswerTotals(
        asked=sum(len(answer.grant.batch.keys) for answer in answers),
        measured=len(saved.ours & measured),
        missing=sum(len(answer.missing) for answer in lookups),
        broken=sum(len(answer.broken) for answer in lookups),
        unread=sum(len(answer.unread) for answer in lookups),
        left=_requests_left(answers),
    )


def _requests_left(answers: Iterable[Answered]) -> Mapping[str, int | str]:
    """Requests left, by the credential's name: the lowest number that X reported."""
    left: dict[str, int | str] = {}
    for answer in answers:
        name, window = answer.grant.selected.credential.name, answer.reply.window
        known = left.get(name)
        if window and (not isinstance(known, int) or window.remaining < known):
            left[name] = window.remaining
        left.setdefault(name, "unknown")
    return left
