"""Quiet hours: who is to be sent nothing now, by their own clock."""

from __future__ import annotations

from datetime import datetime, time, tzinfo

from django.contrib.auth.models import User

from trackers.channels.models import QuietHours


def is_quiet(begins: time, ends: time, zone: tzinfo, *, now: datetime) -> bool:
    """By what the clock on the wall shows: an hour that comes twice is quiet twice, and one that is
    skipped begins and ends what would have begun or ended in it."""
    shown = now.astimezone(zone).time()
    return begins <= shown < ends if begins < ends else shown >= begins or shown < ends


def quiet_people(*, now: datetime) -> list[User]:
    """Few have quiet hours, so all that are there are looked at."""
    rows = QuietHours.objects.select_related("user__time_format")
    return [row.user for row in rows if is_quiet(row.begins, row.ends, row.zone, now=now)]
