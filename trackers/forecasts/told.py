"""The stored forecasts of yesterday, today and tomorrow, for pages, `status` and /metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from trackers.forecasts.models import ForecastDay, ForecastOfProject
from trackers.money.projects import Project

DAY = timedelta(days=1)
# Rows are updated each minute; older numbers come from a cluster that has ended.
FRESH_FOR = timedelta(minutes=5)
NOT_YET = "No forecast yet: a running qcluster makes one within a minute."


@dataclass(frozen=True, slots=True)
class OfProject:
    """Tweet-days of a project; None where nothing is known."""

    name: str
    price: Decimal
    so_far: int | None = None
    expected: float | None = None
    tomorrow: float | None = None
    foreseen_yesterday: float | None = None
    yesterday: int | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """Rows are without numbers where there are none. `why`: what is unknown, and the reason."""

    today: ForecastDay
    tomorrow: ForecastDay
    yesterday: ForecastDay
    why: str
    is_fresh: bool
    projects: Sequence[OfProject] = ()


def told(*, now: datetime, with_projects: bool = False) -> Told:
    day = now.astimezone(UTC).date()
    rows = {one.day: one for one in ForecastDay.objects.filter(day__in=around(day))}
    yesterday, today, tomorrow = (rows.get(one) or ForecastDay(day=one) for one in around(day))
    is_fresh = today.counted_at is not None and now - today.counted_at <= FRESH_FOR
    return Told(
        today=today,
        tomorrow=tomorrow,
        yesterday=yesterday,
        why=today.why or ("" if today.expected_at else NOT_YET),
        is_fresh=is_fresh,
        projects=of_projects(day) if with_projects else (),
    )


def around(day: date) -> tuple[date, date, date]:
    return day - DAY, day, day + DAY


def of_projects(day: date) -> list[OfProject]:
    yesterday, _, tomorrow = around(day)
    kept = ForecastOfProject.objects.filter(day__in=around(day))
    rows = {(one.project_id, one.day): one for one in kept}
    nothing = ForecastOfProject()
    found = []
    for project in Project.objects.all():
        before, now, after = (
            rows.get((project.pk, one), nothing) for one in (yesterday, day, tomorrow)
        )
        found.append(
            OfProject(
                name=project.name,
                price=project.price_of_a_post,
                so_far=now.tweet_days,
                expected=now.expected,
                tomorrow=after.expected,
                foreseen_yesterday=before.foreseen,
                yesterday=before.tweet_days,
            )
        )
    return found
