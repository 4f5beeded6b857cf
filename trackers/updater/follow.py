"""What follows for the queue from a batch: the room of the next, what goes back, figures."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from trackers.jobs import holds, queue, room, tallies
from trackers.updater.refresh import Refreshed, sum_up

logger = logging.getLogger(__name__)


def make_room(done: Refreshed) -> None:
    """Have the next batches as large as there is room for."""
    if done.room:
        room.narrow(done.batch.namespace, done.room)
    else:
        room.widen(done.batch.namespace)


def give_back(done: Refreshed) -> None:
    """Back into the queue: at once where another credential may do better, else after a while.

    Where nothing was answered the namespace waits as well, longer each time.
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
    """The lateness of those that X was asked for: of a batch for which there was not room for all,
    as large a part of each class as was asked for."""
    batch = done.batch
    asked = sum(len(one.grant.batch.keys) for one in done.answers)
    share = (asked + sum(len(one.batch.keys) for one in done.failed)) / len(batch.keys)
    return batch.late if share == 1 else [round(count * share) for count in batch.late]


def tell_refreshed(done: Refreshed) -> None:
    batch, saved, said = done.batch, done.saved, sum_up(done.answers, done.saved)
    tallies.count(
        batch.namespace,
        tallies.BatchDone(
            requests=len(done.answers),
            asked=said.asked,
            measured=said.measured,
            changed=saved.changed,
            missing=said.missing,
            late=lateness(done),
        ),
    )
    logger.info(
        "refreshed %d of %d tweets in %d requests, %d changed, %d missing, %d broken, "
        "%d counts unreadable, %d not ours any more, requests left: %s",
        said.measured,
        said.asked,
        len(done.answers),
        saved.changed,
        said.missing,
        said.broken,
        said.unread,
        said.asked - len(saved.ours),
        ", ".join(f"{name} {left}" for name, left in said.left.items()),
    )
    if done.unclear:
        id, why = next(iter(done.unclear.items()))
        logger.warning(
            "nothing can be read of %d tweets, which are asked for again, then by their age; "
            "of the first of them, %d: %s",
            len(done.unclear),
            id,
            why,
            extra={"tweet_id": str(id)},
        )
