"""Replace the whole list of intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from django.db import transaction

from trackers.schedule.models import Interval
from trackers.schedule.validate import Row


def replace(
    rows: Sequence[Row], *, unless: Callable[[list[Interval]], bool] = lambda _: False
) -> bool:
    """Set all rows or none. False, with nothing done, if `unless` is true of the current ones."""
    with transaction.atomic():
        # Locked, so that two lists set at the same time are not mixed; then read, since the rows
        # may have been replaced while this waited for the lock.
        list(Interval.objects.select_for_update())
        if unless(list(Interval.objects.all())):
            return False
        Interval.objects.all().delete()
        Interval.objects.bulk_create(Interval(**asdict(row)) for row in rows)
    return True
