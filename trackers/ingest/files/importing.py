"""Begin an import, retry its failed parts, or forget an upload that was never begun."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from trackers.ingest.files.dated_counts import dated_counts
from trackers.ingest.files.models import Import, ImportJob, ImportPart
from trackers.ingest.files.preview import columns
from trackers.ingest.files.tablehead import columns_of
from trackers.ingest.found_tweets import Options, UnreadableError
from trackers.ingest.sources import life
from trackers.jobs import queue
from trackers.jobs.models import MAX_STRIKES

_NO_DELAY = timedelta(0)
# For an upload that was never completed, and for one that nobody started.
_UNFINISHED_AFTER, UNSTARTED_AFTER = timedelta(days=1), timedelta(days=7)


def start(
    report: Import,
    *,
    column: int | None,
    referenced: bool,
    paused: bool = False,
    chosen: Options | None = None,
) -> bool:
    """Put every part in the queue; False when it was started before.

    `column` counts from 1; UnreadableError if a table has no such column. `paused`: its tweets are
    not looked up until they are resumed. `chosen`: what dates its counts, and whether what looks
    like accounts is taken anyway.
    """
    chosen = chosen or Options()
    if report.format == "csv" and not 0 < (column or 0) <= len(columns(report)):
        raise UnreadableError("Choose the column with the tweets.")
    if report.format == "csv" and chosen.measured_at:
        dated_counts(columns_of(report.header), chosen.measured_at)
    with transaction.atomic():
        # A second caller waits here, and finds it begun.
        begun = Import.objects.filter(
            pk=report.pk, began_at=None, uploaded_at__isnull=False
        ).update(
            column=str(column or ""),
            referenced=referenced,
            paused=paused,
            measured_at=(chosen.measured_at or "")[:200],
            anyway=chosen.anyway,
            began_at=Now(),
        )
        if begun:
            waiting = ImportPart.objects.filter(source=report.pk).order_by("first_line", "pk")
            keys = waiting.values_list("pk", flat=True)
            queue.schedule_many(ImportJob.queue, [(key, _NO_DELAY) for key in keys])
    return bool(begun)


def failed_parts(report: Import) -> list[int]:
    """Parts that are no longer retried: four workers died of them, or gave up."""
    waiting = ImportPart.objects.filter(source=report.pk).values("pk")
    failed = ImportJob.objects.filter(key__in=waiting, strikes__gte=MAX_STRIKES)
    return list(failed.values_list("key", flat=True))


def try_again(report: Import) -> int:
    """Put the parts that failed back into the queue; returns how many."""
    return queue.schedule_many(ImportJob.queue, [(key, _NO_DELAY) for key in failed_parts(report)])


def discard(report: Import) -> bool:
    """Remove an upload that was never started; False if it was, or is gone."""
    with transaction.atomic():
        # Its row first, as in `start`: who comes second finds it begun, or gone.
        waiting = Import.objects.select_for_update().filter(pk=report.pk, began_at=None)
        return waiting.exists() and bool(life.remove_sources([report.pk]))


def prune_unstarted_uploads(now: datetime) -> int:
    """Remove uploads that broke off a day ago or were not started in a week; returns how many."""
    left = Import.objects.filter(began_at=None).filter(
        Q(uploaded_at=None, source__created_at__lt=now - _UNFINISHED_AFTER)
        | Q(uploaded_at__lt=now - UNSTARTED_AFTER)
    )
    return life.remove_sources(left.values_list("pk", flat=True))
