"""When a person was here last: a visit begins after half an hour of absence."""

from __future__ import annotations

from datetime import datetime, timedelta

from trackers.dashboards.models import OverviewVisit

ABSENCE = timedelta(minutes=30)
# A visit is written down no more often.
_NOTED_EVERY = timedelta(minutes=1)


def begin_of_absence(
    *, before: datetime | None, seen_at: datetime, now: datetime
) -> datetime | None:
    """From when on a person has seen nothing, at a look at this time; `before`: what that was at
    the look before, `seen_at`. Pure."""
    return seen_at if now - seen_at >= ABSENCE else before


def note_visit(account: int, *, now: datetime) -> datetime | None:
    """Write down that the person looks; return since when they were away. None: it is their first
    visit."""
    visit = OverviewVisit.objects.filter(user=account).first()
    if visit is None:
        OverviewVisit.objects.get_or_create(user_id=account, defaults={"seen_at": now})
        return None
    since = begin_of_absence(before=visit.away_since, seen_at=visit.seen_at, now=now)
    if now - visit.seen_at >= _NOTED_EVERY:
        OverviewVisit.objects.filter(user=account).update(away_since=since, seen_at=now)
    return since
