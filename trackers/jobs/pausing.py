"""Everything paused by one act, and resumed just as it was before.

The queues that ran are paused (`Queue.paused`, which claims obey) and listed in the one row of
`PausedAll`. While that row is there the stream disconnects, and periodic tasks ask X for nothing.
"""

from __future__ import annotations

from django.db import IntegrityError, transaction

from trackers.jobs.models import PausedAll, Queue

ALL_PAUSED = "Everything is paused."


def paused_all() -> PausedAll | None:
    return PausedAll.objects.first()


def pause_all(*, by: str, because: str = "") -> PausedAll | None:
    """Pause all queues that run; None if everything is paused already."""
    try:
        with transaction.atomic():
            # Locks: the one row first, so that of two people one waits and then gives up; then the
            # queues, in the order of names.
            made = PausedAll.objects.create(by=by[:150], because=because[:200], queues=[])
            running = Queue.objects.select_for_update().filter(paused=False).order_by("name")
            made.queues = [queue.name for queue in running]
            Queue.objects.filter(pk__in=made.queues).update(paused=True)
            made.save(update_fields=["queues"])
            return made
    except IntegrityError:
        return None


def resume_all() -> PausedAll | None:
    """Resume the queues that ran before; None if it was not paused, or somebody was faster."""
    with transaction.atomic():
        row = PausedAll.objects.select_for_update().first()
        if row is None:
            return None
        list(Queue.objects.select_for_update().filter(pk__in=row.queues).order_by("name"))
        Queue.objects.filter(pk__in=row.queues).update(paused=False)
        PausedAll.objects.filter(pk=row.pk).delete()
        return row
