"""The whole list of intervals, put in the place of the one that is in force."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from django.db import transaction

from trackers.schedule.models import Interval
from trackers.schedule.validate import Row


def replace(
    rows: Sequence[Row], *, unless: Callable[[list[Interval]], bool] = lambda _: False
) -> bool:
    """All of them or none. False, with nothing done, if `unless` says so of those in force."""
    with transaction.atomic():
        # Locked, so that two lists set at the same time do not get mixed; then read, since what
        # was locked may have been replaced while this waited.
        list(Interval.objects.select_for_update())
        if unless(list(Interval.objects.all())):
            return False
        Interval.objects.all().delete()
        Interval.objects.bulk_create(Interval(**asdict(row)) for row in rows)
    return True
