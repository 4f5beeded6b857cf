"""Settle a batch: keys to give back, holds, the size of the next batch, metrics."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from trackers.jobs import holds, queue, tallies
from trackers.jobs.observed import tasks as noted
from trackers.jobs.queue import Batch
from trackers.updater.refresh import Refreshed, Said, sum_up
from trackers.updater.reserve import Held, Waiting
from tweetwatch.database import together

logger = logging.getLogger(__name__)


# Waits for the headers of a first request, or for a turn while requests are spread, are shorter.
LONG = timedelta(minutes=1)


def settle_batch(batch: Batch, outcome: Refreshed | Held | Waiting) -> None:
    """Apply a batch's outcome to the queue; then raise what broke a request."""
    match outcome:
        case Refreshed():
            if outcome.failed:
                noted.failed_because(outcome.failed[0].because)
                give_back(outcome)
            if outcome.answers:
                # Locks: the namespace's row, and one that only this process uses.
                said = sum_up(outcome.answers, outcome.saved)
                done = batch_done(outcome, said)
                with together():
                    holds.succeed(batch.namespace)
                    holds.resize(batch.namespace, outcome.room)
                    tallies.count(batch.namespace, done)
                log_refreshed(outcome, said)
            for error in outcome.broke:
                raise error
        case Held():
            hold(batch, outcome)
        case Waiting():
            pass  # Already postponed until there is money.


def hold(batch: Batch, outcome: Held) -> None:
    """Hold the namespace for a while, and give back what was claimed."""
    holds.resize(batch.namespace, outcome.room)
    holds.hold(batch.namespace, until=outcome.until, because=outcome.because)
    queue.put_back(outcome.batch)
    is_long = outcome.until > (batch.claimed_at or outcome.until) + LONG
    logger.log(
        logging.WARNING if is_long else logging.DEBUG,
        "gave %d tweets back, nothing is asked until %s: %s",
        len(outcome.batch.keys),
        outcome.until.isoformat(timespec="seconds"),
        outcome.because,
    )


def give_back(done: Refreshed) -> None:
    """Put back into the queue: due at once if another credential may do better, else after a while.

    If no request was answered, the namespace waits as well, longer each time.
    """
    namespace = done.batch.namespace
    cautious = [one for one in done.failed if not one.needs_no_backoff]
    wait = timedelta(0)
    if cautious and done.answers:
        wait = holds.first_wait(namespace)
    elif cautious:
        wait = holds.fail(namespace, because=cautious[0].because)
    for one in done.failed:
        if one.another_may or one.needs_no_backoff:
            queue.put_back(one.batch)
        else:
            queue.release(one.batch, wait)
        late = () if done.answers or one is not done.failed[0] else lateness(done)
        tallies.count(namespace, tallies.BatchDone(failed=len(one.batch.keys), late=late))
        logger.warning(
            "gave %d tweets back, credential %s: %s",
            len(one.batch.keys),
            one.credential,
            one.because,
            extra={"credential": str(one.credential)},
        )


def lateness(done: Refreshed) -> Sequence[int]:
    """The lateness of the requested tweets. If there was no room for the whole batch, each class is
    scaled to the share that was requested."""
    batch = done.batch
    asked = sum(len(one.grant.batch.keys) for one in done.answers)
    share = (asked + sum(len(one.batch.keys) for one in done.failed)) / len(batch.keys)
    return batch.late if share == 1 else [round(count * share) for count in batch.late]


def batch_done(done: Refreshed, said: Said) -> tallies.BatchDone:
    return tallies.BatchDone(
        requests=len(done.answers),
        asked=said.asked,
        measured=said.measured,
        changed=done.saved.changed,
        missing=said.missing,
        late=lateness(done),
    )


def log_refreshed(done: Refreshed, said: Said) -> None:
    logger.info(
        "refreshed %d of %d tweets in %d requests, %d changed, %d missing, %d broken, "
        "%d counts unreadable, %d not ours any more, requests left: %s",
        said.measured,
        said.asked,
        len(done.answers),
        done.saved.changed,
        said.missing,
        said.broken,
        said.unread,
        said.asked - len(done.saved.ours),
        ", ".join(f"{name} {left}" for name, left in said.left.items()),
    )
    if done.unclear:
        id, why = next(iter(done.unclear.items()))
        logger.warning(
            "%d tweets could not be read; they are requested again, then by their age; the first "
            "of them, %d: %s",
            len(done.unclear),
            id,
            why,
            extra={"tweet_id": str(id)},
        )
