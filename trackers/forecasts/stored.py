"""The stored forecasts of yesterday, today and tomorrow, for pages, `status` and /metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from trackers.forecasts.models import ForecastDay, ForecastOfProject
from trackers.money.models import Project, Spending

_ONE_DAY = timedelta(days=1)
# Rows are updated each minute; older numbers come from a cluster that has ended.
_FRESH_FOR = timedelta(minutes=5)
NOT_YET = "No forecast yet: a running qcluster makes one within a minute."


@dataclass(frozen=True, slots=True)
class ProjectForecast:
    """Tweet-days of a project; None where nothing is known."""

    name: str
    spends: Decimal | None  # by midnight, in US dollars; of accounts and counts, those so far
    so_far: int | None = None
    expected: float | None = None
    tomorrow: float | None = None
    spends_tomorrow: Decimal | None = None
    # The tweet-days of tomorrow, had the budgets room for all.
    unlimited_tomorrow: float | None = None
    foreseen_yesterday: float | None = None
    yesterday: int | None = None


@dataclass(frozen=True, slots=True)
class StoredForecast:
    """Rows are without numbers where there are none."""

    today: ForecastDay
    tomorrow: ForecastDay
    yesterday: ForecastDay
    why: str  # what is unknown, and the reason
    is_fresh: bool
    projects: Sequence[ProjectForecast] = ()


def stored_forecast(*, now: datetime, with_projects: bool = False) -> StoredForecast:
    day = now.astimezone(UTC).date()
    rows = {one.day: one for one in ForecastDay.objects.filter(day__in=_around(day))}
    yesterday, today, tomorrow = (rows.get(one) or ForecastDay(day=one) for one in _around(day))
    is_fresh = today.counted_at is not None and now - today.counted_at <= _FRESH_FOR
    return StoredForecast(
        today=today,
        tomorrow=tomorrow,
        yesterday=yesterday,
        why=today.why or ("" if today.expected_at else NOT_YET),
        is_fresh=is_fresh,
        projects=project_forecasts(day) if with_projects else (),
    )


def _around(day: date) -> tuple[date, date, date]:
    return day - _ONE_DAY, day, day + _ONE_DAY


def project_forecasts(day: date) -> list[ProjectForecast]:
    yesterday, _, tomorrow = _around(day)
    kept = ForecastOfProject.objects.filter(day__in=_around(day))
    rows = {(one.project_id, one.day): one for one in kept}
    nothing = ForecastOfProject()
    spent = {one.project_id: one for one in Spending.objects.filter(day=day)}
    forecasts = []
    for project in Project.objects.all():
        before, now, after = (
            rows.get((project.pk, one), nothing) for one in (yesterday, day, tomorrow)
        )
        forecasts.append(
            ProjectForecast(
                name=project.name,
                spends=_dollars_by_midnight(
                    project, now.expected, spent.get(project.pk) or Spending()
                ),
                so_far=now.tweet_days,
                expected=now.expected,
                tomorrow=after.expected,
                spends_tomorrow=None
                if after.expected is None
                else project.cost_of_posts(round(after.expected)),
                unlimited_tomorrow=after.unlimited,
                foreseen_yesterday=before.foreseen,
                yesterday=before.tweet_days,
            )
        )
    return forecasts


def _dollars_by_midnight(
    project: Project, tweet_days: float | None, spent: Spending
) -> Decimal | None:
    """What the day's tweet-days will have cost, and its accounts and counts so far."""
    if tweet_days is None:
        return None
    posts = round(tweet_days)
    return (
        project.cost_of_posts(posts, owned=min(spent.owned_posts, posts))
        + (spent.users + spent.users_reserved) * project.price_of_a_user
        + (spent.counts + spent.counts_reserved) * project.price_of_a_count
        + (spent.archive_counts + spent.archive_counts_reserved) * project.price_of_an_archive_count
    )
